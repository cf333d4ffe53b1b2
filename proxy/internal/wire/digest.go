package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest is the SHA-256 of bytes as it stands in names and on record.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(make([]byte, 0, 2*len(sum)), sum[:]))
}
