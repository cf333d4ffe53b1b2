package rawjson

// Leaves calls yield for each leaf of value, in source order, until yield returns false. A leaf is
// a decoded string, or the source text of a number or boolean; nulls and object keys are not
// leaves. Leaves stops at the first syntax error.
func Leaves(value []byte, yield func(leaf string) bool) {
	scalars(value, func(token []byte, end int) bool {
		switch isString := token[0] == '"'; {
		case token[0] == 'n' || isString && peek(value, skipSpace(value, end)) == ':':
			return true
		case isString:
			s, ok := String(token)
			return ok && yield(s)
		}
		return yield(string(token))
	})
}

// Strings calls yield for each decoded string in value, including object keys, in source order
// until yield returns false. A string without escapes is a slice of value, which yield must not
// modify. Strings stops at the first syntax error.
func Strings(value []byte, yield func(s []byte) bool) {
	scalars(value, func(token []byte, _ int) bool {
		if token[0] != '"' {
			return true
		}
		s, ok := decode(token)
		return ok && yield(s)
	})
}

// scalars calls yield for each scalar in value, including object keys, in source order. It stops if
// yield returns false or at the first syntax error. The second argument of yield is the offset
// after the scalar.
func scalars(value []byte, yield func(token []byte, end int) bool) {
	for i := skipSpace(value, 0); i < len(value); i = skipSpace(value, i) {
		switch value[i] {
		case '{', '}', '[', ']', ',', ':':
			i++
			continue
		}
		end := Skip(value, i)
		if end < 0 || !yield(value[i:end], end) {
			return
		}
		i = end
	}
}
