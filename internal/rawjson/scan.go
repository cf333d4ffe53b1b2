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
