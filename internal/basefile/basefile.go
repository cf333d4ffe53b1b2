// Package basefile holds the bytes of a base policy against what was promised of them: a
// digest, or the signature of a key.
package basefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"aead.dev/minisign"
)

// MaxSignature is the largest number of bytes in a file with a signature.
const MaxSignature = 4 << 10

// SignatureOf is where the signature of a base lies, by where the base lies.
func SignatureOf(place string) string { return place + ".minisig" }

// Digest is the digest of the bytes, as configurations have it.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// CheckDigest refuses what is no digest.
func CheckDigest(digest string) error {
	sum, ok := strings.CutPrefix(digest, "sha256:")
	if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size || sum != strings.ToLower(sum) {
		return errors.New("it must be sha256: and 64 hexadecimal digits in lower case")
	}
	return nil
}

// HasDigest refuses bytes that have another digest.
func HasDigest(data []byte, digest string) error {
	if got := Digest(data); got != digest {
		return fmt.Errorf("its digest is %s and not the one that is written here", got)
	}
	return nil
}

// KeyID is what minisign calls a public key, or why the text is none.
func KeyID(key string) (string, error) {
	var k minisign.PublicKey
	if err := k.UnmarshalText([]byte(key)); err != nil || strings.ContainsAny(key, " \t\r\n") {
		return "", errors.New("it is no public key of minisign: the line of minisign.pub that begins with RW")
	}
	return fmt.Sprintf("%016X", k.ID()), nil
}

// Signed refuses bytes that the key has not signed, with the trusted comment of the signature.
func Signed(data, signature []byte, key string) error {
	var k minisign.PublicKey
	if err := k.UnmarshalText([]byte(key)); err != nil {
		return fmt.Errorf("reading the public key: %w", err)
	}
	var s minisign.Signature
	if len(signature) > MaxSignature {
		return fmt.Errorf("its signature has more than %d bytes, which is no signature of minisign", MaxSignature)
	}
	if err := s.UnmarshalText(signature); err != nil {
		return errors.New("its signature is not one that minisign writes; sign it again")
	}
	if s.KeyID != k.ID() {
		return fmt.Errorf("it is signed by the key %016X and not by %016X", s.KeyID, k.ID())
	}
	if !minisign.Verify(k, data, signature) {
		return errors.New("its signature does not hold for these bytes: one of them was changed")
	}
	return nil
}
