package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// skipString returns the end of the string literal at i, or -1. Most strings are
// short and have few escapes.
func skipString(doc []byte, i int) int {
	i++
	for range 3 {
		i = near(doc, i)
		switch peek(doc, i) {
		case '"':
			return i + 1
		case '\\':
			i += 2
		default:
			return skipLong(doc, i)
		}
	}
	return skipLong(doc, i)
}

// near returns the offset of the first quote or backslash at or after i, or where it
// gave up: soon, or close to the end.
func near(doc []byte, i int) int {
	for range 6 {
		if len(doc)-i < 8 {
			break
		}
		if m := quoteOrSlash(binary.LittleEndian.Uint64(doc[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	return i
}

// skipLong returns the end of the string literal whose rest begins at i. Near quotes
// it reads blocks of 64 bytes without a branch for each quote; elsewhere it hunts
// for the next one.
func skipLong(doc []byte, i int) int {
	carry := uint64(0)
	for len(doc)-i >= 64 {
		quotes, slashes := masks((*[64]byte)(doc[i:]))
		if ends := quotes &^ escaped(slashes, &carry); ends != 0 {
			return i + bits.TrailingZeros64(ends) + 1
		}
		i += 64
		if quotes == 0 { // escapes of other characters need no look
			i, carry = hunt(doc, i+int(carry)), 0
		}
	}
	for i += int(carry); i < len(doc); i++ {
		switch doc[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// hunt returns the offset of the next quote at or after i, or of the backslashes
// right before it: no others matter.
func hunt(doc []byte, i int) int {
	if i >= len(doc) {
		return len(doc)
	}
	n := bytes.IndexByte(doc[i:], '"')
	if n < 0 {
		return len(doc)
	}
	for n > 0 && doc[i+n-1] == '\\' {
		n--
	}
	return i + n
}

// masks has a bit for each byte of block that is a quote or a backslash.
func masks(block *[64]byte) (quotes, slashes uint64) {
	for i := 0; i < 64; i += 8 {
		w := binary.LittleEndian.Uint64(block[i:])
		quotes |= zeros(w^ones*'"') << i
		slashes |= zeros(w^ones*'\\') << i
	}
	return quotes, slashes
}

// zeros has a bit, of the low eight, for each byte of w that is zero.
func zeros(w uint64) uint64 {
	high := ^((w&^highs + ^uint64(highs)) | w) & highs
	return high >> 7 * 0x0102040810204080 >> 56
}

// escaped returns a bit for each byte that a backslash escapes, given a bit for each
// backslash. The carry says whether the block before escapes the first
// byte, and then whether this one escapes that of the next.
func escaped(slashes uint64, carry *uint64) uint64 {
	const even = 0x5555555555555555
	slashes &^= *carry
	follows := slashes<<1 | *carry
	// Adding a run of backslashes to its first bit carries to its end, where
	// the parity tells whether the run was of odd length.
	oddStarts := slashes &^ even &^ follows
	sum, out := bits.Add64(oddStarts, slashes, 0)
	*carry = out
	return (even ^ sum<<1) & follows
}
