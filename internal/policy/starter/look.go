package starter

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
)

// Words that occur in the names of tools for objects such as files. A read-only tool with one of
// showWords shows a single object, and one with contentWords shows its content. A writing tool with
// one of createWords can create the object, so there might be nothing to read before the call.
var (
	showWords    = []string{"read", "view", "cat", "get", "show", "describe"}
	contentWords = []string{"read", "view", "cat"}
	createWords  = []string{"write", "put", "upsert", "save"}
)

// readersOf returns the server's tools that show the object that t changes, if any. It also returns
// the key, the arguments that identify the object. For example, if t has the path of the object in
// the argument source and the other tools have it in the argument path, the key is "path as
// source".
func (s *server) readersOf(t tool) (readers []string, key string) {
	if t.Kind == toolkind.Edit && t.hasWord(createWords) {
		return nil, ""
	}
	if len(t.Fields.Paths) > 0 {
		for _, field := range t.Fields.Paths {
			if readers, key = s.readersOfPath(t, field); len(readers) > 0 {
				return readers, key
			}
		}
		return nil, ""
	}
	if len(t.Fields.Same) == 0 {
		return nil, ""
	}
	for _, r := range s.tools {
		if r.showsContent(showWords) && slices.Equal(r.Fields.Same, t.Fields.Same) {
			readers = append(readers, r.name)
		}
	}
	return readers, strings.Join(t.Fields.Same, ", ")
}

// readersOfPath returns the tools that can show the object whose path is in the given field of tool
// t. The key names the arguments that contain this path; see [server.readersOf].
func (s *server) readersOfPath(t tool, field string) (readers []string, key string) {
	words := showWords
	if t.Kind == toolkind.Edit {
		words = contentWords
	}
	if field == "destination" || field == "dst" || field == "target" {
		return nil, "" // the target does not exist yet
	}
	for _, of := range []string{field, "path"} {
		for _, r := range s.tools {
			if r.showsContent(words) && slices.Contains(r.Fields.Paths, of) {
				readers = append(readers, r.name)
			}
		}
		if key = of; of != field {
			key += " as " + field
		}
		if len(readers) > 0 {
			return readers, key
		}
	}
	return nil, ""
}

// showsContent reports whether the tool is read-only and its name contains any of the words.
func (t *tool) showsContent(words []string) bool {
	return t.Kind.Reads() && t.hasWord(words)
}

// hasWord reports whether the tool's name contains any of the words.
func (t *tool) hasWord(words []string) bool {
	return slices.ContainsFunc(toolkind.Words(t.bare), func(w string) bool { return slices.Contains(words, w) })
}
