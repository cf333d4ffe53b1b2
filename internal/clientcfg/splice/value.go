package splice

import (
	"bytes"
	"strings"
)

// value returns the value at the given path in tree, or nil if the path does not exist.
func value(tree any, path []string) any {
	for _, key := range path {
		fields, _ := tree.(map[string]any)
		tree = fields[key]
	}
	return tree
}

// nameIn returns the name of a list element, or "" if it has none.
func nameIn(v any, named string) string {
	fields, _ := v.(map[string]any)
	name, _ := fields[named].(string)
	return name
}

// Texts returns the strings in v if v is a list. If v is a string, Texts returns a list that
// contains only v.
func Texts(v any) (all []string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// firstCharacter returns the first character outside comments and white space, or 0 if text has
// none.
func firstCharacter(text []byte) byte {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line[0]
		}
	}
	return 0
}

func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
