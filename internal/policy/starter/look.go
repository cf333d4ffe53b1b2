package starter

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
)

// The following words occur in the names of tools. A tool with a word from showing shows a thing
// and not only that it exists. A tool with a word from content shows a thing's content. A tool with
// a word from making also creates new things, so that there may be nothing to look at beforehand.
var (
	showing = []string{"read", "view", "cat", "get", "show", "describe"}
	content = []string{"read", "view", "cat"}
	making  = []string{"write", "put", "upsert", "save"}
)

// readersOf returns the tools of the server that show what tool t changes. It also returns the key
// that identifies the changed thing in the arguments of t and of these tools: "path" or "path as
// source". If no tool shows what t changes, readersOf returns no tools.
func (s *server) readersOf(t tool) (readers []string, key string) {
	if t.Kind == toolkind.Edit && t.named(making) {
		return nil, ""
	}
	if len(t.Fields.Paths) > 0 {
		for _, field := range t.Fields.Paths { // use the first field whose content some tool shows
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

// showing returns the tools that show the content at the path in the given field, and the key for
// that path.
func (s *server) showing(t tool, field string) (readers []string, key string) {
	words := showing
	if t.Kind == toolkind.Edit {
		words = content
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

// showsContent reports whether the tool only reads and has a name that contains one of the given
// words.
func (t *tool) showsContent(words []string) bool {
	return t.Kind.Reads() && t.named(words)
}

// named reports whether the tool's name contains one of the words.
func (t *tool) named(words []string) bool {
	return slices.ContainsFunc(toolkind.Words(t.bare), func(w string) bool { return slices.Contains(words, w) })
}
