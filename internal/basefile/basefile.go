// Package basefile reads and verifies base policies. A base policy is a policy that configurations
// extend. It has a signature, or the configuration contains its digest. The package verifies a base
// policy, fetches it from a URL if necessary, and caches it. It also records versions, so that it
// can detect rollbacks.
package basefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"aead.dev/minisign"
)

// MaxSignature is the maximum size of a signature file in bytes.
const MaxSignature = 4 << 10

// SignatureOf returns the location of the signature for the base policy at the given location.
func SignatureOf(place string) string { return place + ".minisig" }

// Digest returns the digest of data in the form used in configurations.
func Digest(data []byte) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(data))
}

// CheckDigest returns an error if digest is malformed.
func CheckDigest(digest string) error {
	sum, ok := strings.CutPrefix(digest, "sha256:")
	if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size || sum != strings.ToLower(sum) {
		return errors.New("it must be sha256: and 64 hexadecimal digits in lower case")
	}
	return nil
}

// HasDigest returns an error if data does not have the given digest.
func HasDigest(data []byte, digest string) error {
	if got := Digest(data); got != digest {
		return fmt.Errorf("its digest is %s, which is not the configured one", got)
	}
	return nil
}

// KeyID returns the minisign ID of a public key, or an error if the key is malformed.
func KeyID(key string) (string, error) {
	var k minisign.PublicKey
	if err := k.UnmarshalText([]byte(key)); err != nil || strings.ContainsAny(key, " \t\r\n") {
		return "", errors.New("it is not a minisign public key: copy the line of minisign.pub that begins with RW")
	}
	return fmt.Sprintf("%016X", k.ID()), nil
}

// Signed returns an error if signature is not a valid minisign signature of data under the given
// key. The signature's trusted comment must be valid, too.
func Signed(data, signature []byte, key string) error {
	var k minisign.PublicKey
	if err := k.UnmarshalText([]byte(key)); err != nil {
		return fmt.Errorf("reading the public key: %w", err)
	}
	var s minisign.Signature
	if len(signature) > MaxSignature {
		return fmt.Errorf("its signature has more than %d bytes, so it is not a minisign signature", MaxSignature)
	}
	if err := s.UnmarshalText(signature); err != nil {
		return errors.New("its signature is not a minisign signature; sign it again")
	}
	if s.KeyID != k.ID() {
		return fmt.Errorf("it is signed with the key %016X, not with %016X", s.KeyID, k.ID())
	}
	if !minisign.Verify(k, data, signature) {
		return errors.New("its signature does not match these bytes: the file or the signature was changed")
	}
	return nil
}
