package callclass

import (
	"slices"
	"strings"
)

// entangled reports whether a field of the form says something to a map of
// another field that the form leaves out: one leads into the other, or they
// take the same value for an object and for a list. Of two fields that differ in
// letter case only each puts the other in doubt, whether it is left out or not.
func (b *Enumerator) entangled(f *form) bool {
	if len(f.fields) == 0 {
		return false
	}
	others := b.pathsOf(f.tools)
	for i := range f.fields {
		for _, other := range others {
			if f.value(other) == nil && overlap(f.fields[i].field, other) || differInCase(f.fields[i].field, other) {
				return true
			}
		}
	}
	return false
}

// pathsOf are the fields of the tool, if one of them is a path or another in
// other letters.
func (b *Enumerator) pathsOf(tools []label) []string {
	tool := tools[0].text
	fields, known := b.paths[tool]
	if !known {
		deep := false
		for _, field := range b.fields(tools) {
			deep = deep || isPath(field) || slices.ContainsFunc(fields, func(other string) bool { return differInCase(field, other) })
			fields = append(fields, field)
		}
		if !deep {
			fields = nil
		}
		b.paths[tool] = fields
	}
	return fields
}

func isPath(field string) bool {
	return strings.HasPrefix(field, "$.") || strings.HasPrefix(field, "$[")
}

// overlap reports whether the same value can matter to two fields: the steps of
// one are those of the other, or the first of them, or where they part one is a key and the other
// is an element.
func overlap(a, b string) bool {
	if !isPath(a) && !isPath(b) {
		return false
	}
	p, q := steps(a), steps(b)
	for i := range min(len(p), len(q)) {
		if p[i] != q[i] {
			return strings.HasPrefix(p[i], "[") || strings.HasPrefix(q[i], "[")
		}
	}
	return true
}

// differInCase reports whether two fields part at a key which differs in letter case only.
func differInCase(a, b string) bool {
	p, q := keysOf(a), keysOf(b)
	for i := range min(len(p), len(q)) {
		if p[i] != q[i] {
			return strings.EqualFold(p[i], q[i])
		}
	}
	return false
}

// keysOf is steps, of a field that is one key the key.
func keysOf(field string) []string {
	if !isPath(field) {
		return []string{field}
	}
	return steps(field)
}

// steps are the keys and the brackets of a field. A key with a dot is taken for
// two: too much is doubted then, not too little.
func steps(field string) []string {
	text := strings.NewReplacer(`["`, ".", `"]`, "", "[", ".[").Replace(strings.TrimPrefix(field, "$"))
	return strings.FieldsFunc(text, func(c rune) bool { return c == '.' })
}
