package rawjson

// Leaves calls yield for each leaf of value, depth first in source order,
// until it returns false: strings decoded, numbers and booleans by their
// lexeme. Nulls and the keys of objects are not leaves. It ends at the first
// syntax error.
func Leaves(value []byte, yield func(leaf string) bool) {
	tokens(value, func(kind byte, tok []byte) bool {
		switch kind {
		case '"':
			s, ok := String(tok)
			return ok && yield(s)
		case '0', 't', 'f':
			return yield(string(tok))
		}
		return true
	})
}

// tokens calls yield for each token of doc but white space. The kind is that
// of [Kind], the byte itself for punctuation, or 'k' for the key of a member.
// Whether the tokens make a value is not looked at.
func tokens(doc []byte, yield func(kind byte, tok []byte) bool) {
	for i := space(doc, 0); i < len(doc); i = space(doc, i) {
		kind, end := Kind(doc[i:]), i+1
		switch c := doc[i]; c {
		case '{', '}', '[', ']', ',', ':':
			kind = c
		default:
			if end = Skip(doc, i); end < 0 {
				return
			}
		}
		if kind == '"' && peek(doc, space(doc, end)) == ':' {
			kind = 'k'
		}
		if !yield(kind, doc[i:end]) {
			return
		}
		i = end
	}
}
