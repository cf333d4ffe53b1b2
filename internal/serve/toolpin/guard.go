package toolpin

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// A Guard holds tools to their definitions. It is safe for concurrent use.
type Guard struct {
	Book    *Book
	Enforce bool // a tool whose definition is not accepted cannot be called; else there is a warning

	mu      sync.Mutex
	problem map[string]error // why new tools of a server are not in the book
}

// Meet takes note of all tools that a server lists: those that are new are accepted. It returns why
// that cannot be, once.
func (g *Guard) Meet(server string, tools []json.RawMessage) error {
	var all []Definition
	for _, object := range tools {
		lit, _ := rawjson.Member(object, "name")
		if name, ok := rawjson.String(lit); ok {
			all = append(all, Read(server, name, object))
		}
	}
	err := g.Book.Meet(all)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.problem == nil {
		g.problem = map[string]error{}
	}
	before := g.problem[server]
	g.problem[server] = err
	if err != nil && before != nil && err.Error() == before.Error() {
		return nil // it was told
	}
	return err
}

// Why says why a definition is not accepted; empty: it is, or it is not known, and nothing is
// enforced.
func (g *Guard) Why(d Definition) string {
	pin, known := g.Book.Find(d.Server, d.Tool)
	switch {
	case known && string(pin.Text) == string(d.Text):
		return ""
	case known:
		return "the server says something else of it than what was accepted on " + pin.Since.UTC().Format(time.DateOnly)
	case !g.Enforce:
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Sprintf("what the server says of it could not be kept: %s", text.Escape(fmt.Sprint(g.problem[d.Server])))
}
