package rawjson

// Skip returns the end of the value that starts at doc[i], or -1 if no value starts there or the
// nesting exceeds [MaxDepth]. It validates scalars, except for the contents of strings; in objects
// and arrays it only looks at strings and brackets, so that even large values are cheap to skip.
func Skip(doc []byte, i int) int {
	switch peek(doc, i) {
	case '"':
		return skipString(doc, i)
	case '{', '[':
		return skipContainer(doc, i)
	}
	return scalar(doc, i)
}

// skipContainer returns the end of the object or array at i.
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

// brackets is a stack of open brackets with one bit each.
type brackets struct {
	depth int
	bits  [MaxDepth / 64]uint64 // 1: object, 0: array
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

// pop reports whether c closes the innermost open bracket. At least one bracket must be open.
func (b *brackets) pop(c byte) bool {
	b.depth--
	isObject := b.bits[b.depth/64]>>(b.depth%64)&1 == 1
	return isObject == (c == '}')
}
