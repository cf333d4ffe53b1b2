package callclass

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/naming"
)

// entangled reports whether the arguments set by the form f could affect a map statement that reads
// another field. This happens if a field that f sets overlaps a field that f does not set; see
// [overlap]. It also happens if the first difference between a field that f sets and any other
// field is the letter case of a key.
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

// pathsOf returns the fields of the tool, or nil if none of them can affect another. Fields can
// affect each other only if one of them is a path or two differ only in letter case.
func (b *Enumerator) pathsOf(tools []naming.Label) []string {
	tool := tools[0].Text
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

// overlap reports whether changing the value of one field can change the value of the other. It
// returns false if neither field is a path. Otherwise, two fields overlap if one of them begins
// with the other, or if the first steps that differ include an array element.
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

// differInCase reports whether the first keys that differ between the two fields differ only in
// letter case.
func differInCase(a, b string) bool {
	p, q := keysOf(a), keysOf(b)
	for i := range min(len(p), len(q)) {
		if p[i] != q[i] {
			return strings.EqualFold(p[i], q[i])
		}
	}
	return false
}

// keysOf returns the steps of a path, or the field itself if it is a plain key.
func keysOf(field string) []string {
	if !isPath(field) {
		return []string{field}
	}
	return steps(field)
}

// steps splits a path into keys and array elements. It also splits keys that contain a dot. As a
// result, the arguments of some calls may remain unknown or lack a required value.
func steps(field string) []string {
	text := strings.NewReplacer(`["`, ".", `"]`, "", "[", ".[").Replace(strings.TrimPrefix(field, "$"))
	return strings.FieldsFunc(text, func(c rune) bool { return c == '.' })
}
