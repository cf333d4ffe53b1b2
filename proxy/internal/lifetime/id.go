package lifetime

import (
	"crypto/rand"
	"encoding/hex"
	"io"
)

// RandomID returns an identifier that nobody can guess.
func RandomID(prefix string) string {
	var b [16]byte
	if _, err := io.ReadFull(rand.Reader, b[:]); err != nil {
		panic(err) // the system has no randomness: nothing is safe
	}
	return prefix + hex.EncodeToString(b[:])
}
