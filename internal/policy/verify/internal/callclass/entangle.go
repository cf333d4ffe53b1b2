package callclass

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/naming"
)

// entangled reports whether a field that f sets could affect a map statement for another field.
// This is possible if two fields overlap (see [overlap]) or if their keys differ only in letter
// case.
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

// pathsOf returns the fields of the tool, or nil if the fields cannot affect each other. Two fields
// can affect each other only if one of them is a path or if they differ only in letter case.
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

// overlap reports whether a change to one field might change the other. This is so if one field
// contains the other. Fields that first differ at an array element also count as overlapping, to be
// safe. If neither field is a path, overlap returns false.
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

// differInCase compares the first keys that differ between the two fields. It reports whether these
// keys differ only in letter case.
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

// steps splits a path into keys and array elements. It does not support keys that contain a dot:
// for such paths, the arguments found for a call can be missing or incomplete.
func steps(field string) []string {
	text := strings.NewReplacer(`["`, ".", `"]`, "", "[", ".[").Replace(strings.TrimPrefix(field, "$"))
	return strings.FieldsFunc(text, func(c rune) bool { return c == '.' })
}
