package rawjson

// Leaves calls yield for each leaf of value, depth-first in source order, until yield returns
// false. Strings are decoded; numbers and booleans keep their source text. Nulls and object keys
// are not leaves. Leaves stops at the first syntax error.
func Leaves(value []byte, yield func(leaf string) bool) {
	for i := skipSpace(value, 0); i < len(value); i = skipSpace(value, i) {
		switch value[i] {
		case '{', '}', '[', ']', ',', ':':
			i++
			continue
		}
		end := Skip(value, i)
		if end < 0 {
			return
		}
		token, isKey := value[i:end], peek(value, skipSpace(value, end)) == ':'
		i = end
		switch {
		case token[0] == 'n' || token[0] == '"' && isKey:
		case token[0] == '"':
			if s, ok := String(token); !ok || !yield(s) {
				return
			}
		case !yield(string(token)):
			return
		}
	}
}

// Strings calls yield for each decoded string in value, in source order and including object keys,
// until yield returns false. A string without escapes is a slice of value, which yield must not
// modify. Strings stops at the first syntax error.
func Strings(value []byte, yield func(s []byte) bool) {
	for i := skipSpace(value, 0); i < len(value); i = skipSpace(value, i) {
		switch value[i] {
		case '{', '}', '[', ']', ',', ':':
			i++
			continue
		}
		end := Skip(value, i)
		if end < 0 {
			return
		}
		if value[i] == '"' {
			if s, ok := decoded(value[i:end]); !ok || !yield(s) {
				return
			}
		}
		i = end
	}
}

// decoded decodes a string literal. If the literal has no escapes, it is not copied.
func decoded(lit []byte) ([]byte, bool) {
	if s, ok := Bare(lit); ok {
		return s, true
	}
	s, ok := String(lit)
	return []byte(s), ok
}
