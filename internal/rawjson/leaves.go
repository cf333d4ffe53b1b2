package rawjson

// Leaves calls yield for each leaf of value, depth first in source order,
// until it returns false: strings decoded, numbers and booleans by their
// lexeme. Nulls and the keys of objects are not leaves. It ends at the first
// syntax error.
func Leaves(value []byte, yield func(leaf string) bool) {
	for i := space(value, 0); i < len(value); i = space(value, i) {
		switch value[i] {
		case '{', '}', '[', ']', ',', ':':
			i++
			continue
		}
		end := Skip(value, i)
		if end < 0 {
			return
		}
		token, isKey := value[i:end], peek(value, space(value, end)) == ':'
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

// Strings calls yield for each string of value, decoded, in source order, until it returns
// false. The keys of objects are among them. A string without escapes is a part of value: yield
// must not change it. It ends at the first syntax error.
func Strings(value []byte, yield func(s []byte) bool) {
	for i := space(value, 0); i < len(value); i = space(value, i) {
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

// decoded returns the string of the literal, without a copy where it has no escapes.
func decoded(lit []byte) ([]byte, bool) {
	if s, ok := Bare(lit); ok {
		return s, true
	}
	s, ok := String(lit)
	return []byte(s), ok
}
