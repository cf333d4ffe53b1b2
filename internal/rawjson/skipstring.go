package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// skipString returns the end of the string literal at i, or -1. It is optimized for short strings
// with few escapes and leaves the rest to skipLong.
func skipString(doc []byte, i int) int {
	i++
	for range 3 {
		i = nearQuote(doc, i)
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

// nearQuote returns the offset of the first quote or backslash at or after i. It gives up after a few
// words or close to the end of doc, and then returns the offset that it reached.
func nearQuote(doc []byte, i int) int {
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

// skipLong returns the end of the string literal whose unread rest starts at i. Near quotes it
// processes blocks of 64 bytes without a branch for each quote; elsewhere it searches for the next
// quote.
func skipLong(doc []byte, i int) int {
	carry := uint64(0)
	for len(doc)-i >= 64 {
		quotes, slashes := masks((*[64]byte)(doc[i:]))
		if ends := quotes &^ escaped(slashes, &carry); ends != 0 {
			return i + bits.TrailingZeros64(ends) + 1
		}
		i += 64
		if quotes == 0 { // only escapes of quotes matter
			i, carry = nextQuote(doc, i+int(carry)), 0
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

// nextQuote returns the offset of the next quote at or after i, or of the run of backslashes directly
// before it. Other backslashes do not matter.
func nextQuote(doc []byte, i int) int {
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

// masks returns one bit for each byte of block: set in quotes for a quote, in slashes for a
// backslash.
func masks(block *[64]byte) (quotes, slashes uint64) {
	for i := 0; i < 64; i += 8 {
		w := binary.LittleEndian.Uint64(block[i:])
		quotes |= zeroBytes(w^ones*'"') << i
		slashes |= zeroBytes(w^ones*'\\') << i
	}
	return quotes, slashes
}

// zeroBytes returns one bit for each byte of w, set if the byte is zero, in the low eight bits.
func zeroBytes(w uint64) uint64 {
	high := ^((w&^highs + ^uint64(highs)) | w) & highs
	return high >> 7 * 0x0102040810204080 >> 56
}

// escaped returns one bit for each byte of the block, set if a backslash escapes the byte; slashes
// has one bit for each backslash. On entry, carry is 1 if the previous block escapes the first
// byte; on return, it is 1 if this block escapes the first byte of the next one.
func escaped(slashes uint64, carry *uint64) uint64 {
	const even = 0x5555555555555555
	slashes &^= *carry
	follows := slashes<<1 | *carry
	// Adding a run of backslashes to its first bit carries to the bit after the run, whose parity
	// tells whether the run has odd length.
	oddStarts := slashes &^ even &^ follows
	sum, out := bits.Add64(oddStarts, slashes, 0)
	*carry = out
	return (even ^ sum<<1) & follows
}
