package starter

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
)

// Parts of names: of tools that show a thing, and not only that it is there; of its content; and of
// tools that also make what is not there yet, so that there is nothing to look at.
var (
	showing = []string{"read", "view", "cat", "get", "show", "describe"}
	content = []string{"read", "view", "cat"}
	making  = []string{"write", "put", "upsert", "save"}
)

// readersOf are the tools of the server that show what t changes, and the key under which both
// name it: "path", or "path as source"; none where no tool does.
func (s *server) readersOf(t tool) (readers []string, key string) {
	if t.Kind == toolkind.Edit && t.named(making) {
		return nil, ""
	}
	if len(t.Fields.Paths) > 0 {
		for _, field := range t.Fields.Paths { // a copy is made of the first that something shows
			if readers, key = s.showing(t, field); len(readers) > 0 {
				return readers, key
			}
		}
		return nil, ""
	}
	if len(t.Fields.Same) == 0 {
		return nil, ""
	}
	for _, r := range s.tools {
		if r.showsContent(showing) && slices.Equal(r.Fields.Same, t.Fields.Same) {
			readers = append(readers, r.name)
		}
	}
	return readers, strings.Join(t.Fields.Same, ", ")
}

// showing are the tools that show what is at a path.
func (s *server) showing(t tool, field string) (readers []string, key string) {
	words := showing
	if t.Kind == toolkind.Edit {
		words = content
	}
	if field == "destination" || field == "dst" || field == "target" {
		return nil, "" // nothing is there yet
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

// showsContent reports whether it reads, and is named so.
func (t *tool) showsContent(words []string) bool {
	return t.Kind.Reads() && t.named(words)
}

// named reports whether the name has one of the words.
func (t *tool) named(words []string) bool {
	return slices.ContainsFunc(toolkind.Words(t.bare), func(w string) bool { return slices.Contains(words, w) })
}
