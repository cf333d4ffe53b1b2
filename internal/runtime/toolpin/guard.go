package toolpin

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// A Guard holds tools to their definitions. It is safe for concurrent use.
type Guard struct {
	Book    Book
	Enforce bool // a tool whose definition is not accepted cannot be called; else there is a warning

	mu      sync.Mutex
	unknown map[string]unknown // by server
}

// unknown is why new tools of a server are not in the book.
type unknown struct {
	left   error // they are too large, or too many
	failed error // the book could not be read or written, which may be over soon
}

// Meet takes note of all tools that a server lists: those that are new are accepted. It returns why
// that cannot be, once.
func (g *Guard) Meet(ctx context.Context, server string, tools []json.RawMessage) error {
	var all []Definition
	for _, object := range tools {
		lit, _ := rawjson.Member(object, "name")
		if name, ok := rawjson.String(lit); ok && len(name) <= maxName {
			all = append(all, Read(server, name, object))
		}
	}
	var now unknown
	now.left, now.failed = g.Book.Meet(ctx, server, all)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unknown == nil {
		g.unknown = map[string]unknown{}
	}
	before := g.unknown[server]
	g.unknown[server] = now
	err := errors.Join(now.left, now.failed)
	if told := errors.Join(before.left, before.failed); err != nil && told != nil && err.Error() == told.Error() {
		return nil // it was told
	}
	return err
}

// Deferred reports whether the tools of a server are to be met again, because the book could
// not be read or written.
func (g *Guard) Deferred(server string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unknown[server].failed != nil
}

// Why says why a definition is not accepted; empty: it is, or it is not known, and nothing is
// enforced. It is for models too: it does not tell where the book is.
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
	switch is := g.unknown[d.Server]; {
	case is.failed != nil:
		return "what the server says of it could not be kept, for a reason that the log has"
	case is.left != nil:
		return "what the server says of it could not be kept: " + text.Escape(is.left.Error())
	}
	return "what the server says of it is not accepted yet"
}
