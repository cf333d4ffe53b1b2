package rawjson

// peek returns the byte at i, or 0 at the end; 0 is never valid outside a string.
func peek(doc []byte, i int) byte {
	if uint(i) < uint(len(doc)) {
		return doc[i]
	}
	return 0
}

// skipSpace skips white space: it returns the offset of the first other byte at or after i.
func skipSpace(doc []byte, i int) int {
	for uint(i) < uint(len(doc)) {
		if c := doc[i]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
		i++
	}
	return i
}

// scalar returns the end of the number or literal name at i, or -1.
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

// number returns the end of the number at i, or -1. A leading zero ends the number, so that 01 is a
// number followed by an invalid byte.
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
