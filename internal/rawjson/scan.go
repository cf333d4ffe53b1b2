package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// peek returns the byte at offset i, or 0 at the end of the document. Callers need not distinguish
// the end from a NUL byte, which is always a syntax error.
func peek(doc []byte, i int) byte {
	if uint(i) < uint(len(doc)) {
		return doc[i]
	}
	return 0
}

// skipSpace returns the offset of the first byte at or after i that is not white space.
func skipSpace(doc []byte, i int) int {
	for uint(i) < uint(len(doc)) {
		if c := doc[i]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
		i++
	}
	return i
}

// scalar returns the end of the number or literal name at offset i, or -1 if it is invalid.
func scalar(doc []byte, i int) int {
	switch c := peek(doc, i); {
	case c == 't':
		return literal(doc, i, "true")
	case c == 'f':
		return literal(doc, i, "false")
	case c == 'n':
		return literal(doc, i, "null")
	case c == '-' || isDigit(c):
		return number(doc, i)
	}
	return -1
}

func literal(doc []byte, i int, name string) int {
	if end := i + len(name); end <= len(doc) && string(doc[i:end]) == name {
		return end
	}
	return -1
}

// number returns the end of the number at offset i, or -1 if it is invalid. A leading zero ends the
// number, so 01 is a number followed by an invalid byte.
func number(doc []byte, i int) int {
	if doc[i] == '-' {
		i++
	}
	switch c := peek(doc, i); {
	case c == '0':
		i++
	case isDigit(c):
		i = digits(doc, i)
	default:
		return -1
	}
	if peek(doc, i) == '.' {
		if i++; !isDigit(peek(doc, i)) {
			return -1
		}
		i = digits(doc, i)
	}
	if c := peek(doc, i); c != 'e' && c != 'E' {
		return i
	}
	i++
	if c := peek(doc, i); c == '+' || c == '-' {
		i++
	}
	if !isDigit(peek(doc, i)) {
		return -1
	}
	return digits(doc, i)
}

func digits(doc []byte, i int) int {
	for isDigit(peek(doc, i)) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// Skip returns the end of the value at offset i, or -1 if no value starts there or the value is
// nested more deeply than [MaxDepth]. It validates scalars, except for the contents of strings. In
// objects and arrays it only looks at strings and brackets, so that even large values are skipped
// quickly.
func Skip(doc []byte, i int) int {
	switch peek(doc, i) {
	case '"':
		return skipString(doc, i)
	case '{', '[':
		return skipContainer(doc, i)
	}
	return scalar(doc, i)
}

// skipContainer returns the end of the object or array at offset i.
func skipContainer(doc []byte, i int) int {
	var open bracketStack
	for ; i < len(doc); i++ {
		switch c := doc[i]; c {
		case '"':
			if i = skipString(doc, i) - 1; i < 0 {
				return -1
			}
		case '{', '[':
			if !open.push(c) {
				return -1
			}
		case '}', ']':
			if !open.pop(c) {
				return -1
			}
			if open.depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// A bracketStack is a stack of open brackets, with one bit for each.
type bracketStack struct {
	depth int
	bits  [MaxDepth / 64]uint64 // 1 for an object, 0 for an array
}

func (b *bracketStack) push(c byte) bool {
	if b.depth == MaxDepth {
		return false
	}
	bit := uint64(1) << (b.depth % 64)
	if c == '{' {
		b.bits[b.depth/64] |= bit
	} else {
		b.bits[b.depth/64] &^= bit
	}
	b.depth++
	return true
}

// pop removes the innermost open bracket, which must exist, and reports whether c closes it.
func (b *bracketStack) pop(c byte) bool {
	b.depth--
	isObject := b.bits[b.depth/64]>>(b.depth%64)&1 == 1
	return isObject == (c == '}')
}

// skipString returns the end of the string literal at offset i, or -1 if the literal is not closed.
// It is optimized for short strings with few escapes and leaves all others to skipLong.
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

// nearQuote searches for the first quote or backslash at or after offset i. It examines at most six
// words of eight bytes, and only complete words. If it finds nothing, it returns the offset of the
// first byte that it has not examined.
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

// skipLong returns the end of a string literal, or -1 if the literal is not closed. The offset i
// must be inside the literal, but not inside an escape. To be fast on long strings, skipLong
// processes 64 bytes at a time.
func skipLong(doc []byte, i int) int {
	carry := uint64(0)
	for len(doc)-i >= 64 {
		quotes, slashes := masks((*[64]byte)(doc[i:]))
		if ends := quotes &^ escapedMask(slashes, &carry); ends != 0 {
			return i + bits.TrailingZeros64(ends) + 1
		}
		i += 64
		if quotes == 0 { // backslashes before the next quote matter only if they directly precede it
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

// nextQuote searches for the next quote at or after offset i. It returns the offset of the quote
// or, if backslashes directly precede it, of the first of them. If no quote follows, it returns the
// length of doc.
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

// masks returns two masks with one bit for each byte of the block. The bits of the first mask mark
// quotes, those of the second mark backslashes.
func masks(block *[64]byte) (quotes, slashes uint64) {
	for i := 0; i < 64; i += 8 {
		w := binary.LittleEndian.Uint64(block[i:])
		quotes |= zeroBytes(w^ones*'"') << i
		slashes |= zeroBytes(w^ones*'\\') << i
	}
	return quotes, slashes
}

// zeroBytes returns a mask with one bit for each byte of w, in the low eight bits. A bit is set if
// the byte is zero.
func zeroBytes(w uint64) uint64 {
	high := ^((w&^highs + ^uint64(highs)) | w) & highs
	return high >> 7 * 0x0102040810204080 >> 56
}

// escapedMask returns a mask of the bytes that are escaped by a backslash in a block of 64 bytes.
// The argument slashes is the mask of the backslashes. The value at carry must be 1 if the last
// byte of the previous block escapes the first byte of this one, and otherwise 0. escapedMask
// updates it for the next block.
func escapedMask(slashes uint64, carry *uint64) uint64 {
	const even = 0x5555555555555555
	slashes &^= *carry
	follows := slashes<<1 | *carry
	// In a run of backslashes and the byte after it, every second byte is escaped. If the run
	// starts at an odd bit, the escaped bytes are at even bits, otherwise at odd bits. The addition
	// clears the runs that start at odd bits. The XOR therefore inverts the mask of even bits only
	// for the other runs.
	oddStarts := slashes &^ even &^ follows
	sum, out := bits.Add64(oddStarts, slashes, 0)
	*carry = out
	return (even ^ sum<<1) & follows
}
