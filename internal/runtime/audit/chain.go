package audit

import (
	"crypto/sha256"
	"strconv"
)

// Link returns the hash of a record. It covers the hash of the previous record (zero for the first
// of a chain), the sequence number in decimal digits, and the event as recorded: one JSON object
// without the number and the hash.
func Link(before [32]byte, seq uint64, event []byte) [32]byte {
	hash, _ := LinkIn(make([]byte, 0, 32+20+len(event)), before, seq, event)
	return hash
}

// LinkIn is like [Link], but assembles its input in room, which it returns for reuse.
func LinkIn(room []byte, before [32]byte, seq uint64, event []byte) (hash [32]byte, same []byte) {
	b := append(room[:0], before[:]...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, event...)
	return hashOf(b), b
}

// hashOf returns the hash of the input assembled by [Link].
func hashOf(linked []byte) [32]byte { return sha256.Sum256(linked) }
