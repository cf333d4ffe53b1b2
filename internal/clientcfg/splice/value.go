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

// onlyComments reports whether text consists only of comments and empty lines.
func onlyComments(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
