package rawjson

import "bytes"

// Skip returns the end of the value that starts at doc[i], or -1 if there is
// none. Scalars are read strictly but for the inside of strings; of objects
// and arrays only strings and brackets are looked at, so that a megabyte costs
// little. Nesting above [MaxDepth] is -1.
func Skip(doc []byte, i int) int {
	switch peek(doc, i) {
	case '"':
		return skipString(doc, i)
	case '{', '[':
		return skipContainer(doc, i)
	}
	return scalar(doc, i)
}

// skipString is the end of the string literal at i. Quotes are hunted, since
// backslashes count only right before one.
func skipString(doc []byte, i int) int {
	start := i + 1
	for i = start; ; i++ {
		n := bytes.IndexByte(doc[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slashes := i
		for slashes > start && doc[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i + 1
		}
	}
}

// skipContainer is the end of the object or array at i.
func skipContainer(doc []byte, i int) int {
	var open brackets
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

// brackets remembers which brackets are open, a bit for each.
type brackets struct {
	depth int
	bits  [MaxDepth / 64]uint64 // set: an object
}

func (b *brackets) push(c byte) bool {
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

// pop reports whether c closes what was opened last; something must be open.
func (b *brackets) pop(c byte) bool {
	b.depth--
	isObject := b.bits[b.depth/64]>>(b.depth%64)&1 == 1
	return isObject == (c == '}')
}

// scalar is the end of the number or literal name at i, or -1.
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

// number is the end of the number at i. A leading zero ends it, so that 01 is
// a number followed by what cannot follow one.
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
