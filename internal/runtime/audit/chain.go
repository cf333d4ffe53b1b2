package audit

import (
	"crypto/sha256"
	"strconv"
)

// Link returns the hash of a record: over the hash of the one before it (zero for the first
// of a chain), its number in decimal digits, and its event as it stands on record, one JSON
// object without the number and the hash.
func Link(before [32]byte, seq uint64, event []byte) [32]byte {
	hash, _ := LinkIn(make([]byte, 0, 32+20+len(event)), before, seq, event)
	return hash
}

// LinkIn is [Link] with room to put the bytes together, which it returns to be used again.
func LinkIn(room []byte, before [32]byte, seq uint64, event []byte) (hash [32]byte, same []byte) {
	b := append(room[:0], before[:]...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, event...)
	return hashOf(b), b
}

// hashOf returns the hash over what [Link] puts together.
func hashOf(linked []byte) [32]byte { return sha256.Sum256(linked) }
