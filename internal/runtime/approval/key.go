package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A Key identifies the one call that an approval is valid for.
type Key struct {
	Session, Tool, Definition, Arguments, Beside, Policy, Steps string
}

// Bytes returns an unambiguous encoding of k.
func (k Key) Bytes() []byte {
	return []byte(strings.Join([]string{k.Session, k.Tool, k.Definition, k.Arguments, k.Beside, k.Policy, k.Steps}, "\x00"))
}

// digest returns the stored form of the key, which has a fixed length.
func (k Key) digest() string {
	sum := sha256.Sum256(k.Bytes())
	return hex.EncodeToString(sum[:])
}
