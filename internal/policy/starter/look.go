package starter

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
)

// Words in the names of tools that work on objects such as files. In the name of a read-only tool,
// one of showWords indicates that the tool shows a single object, and one of contentWords that it
// shows the object's content. In the name of a writing tool, one of createWords indicates that the
// tool can create the object, so there may be nothing to read beforehand.
var (
	showWords    = []string{"read", "view", "cat", "get", "show", "describe"}
	contentWords = []string{"read", "view", "cat"}
	createWords  = []string{"write", "put", "upsert", "save"}
)

// readersOf returns the server's tools that show the object changed by tool t, if any, and the key:
// the arguments that tell whether two calls are about the same object. For example, the key is
// "path as source" if tool t has the object's path in its argument source, and the other tools have
// it in their argument path.
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
