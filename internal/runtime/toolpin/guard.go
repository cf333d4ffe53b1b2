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

// Guard compares tools with their pins. It is safe for concurrent use.
type Guard struct {
	Store   Store
	Enforce bool // whether to refuse calls to tools whose definitions are not accepted, instead of only warning

	mu         sync.Mutex
	rejections map[string]rejection // the latest rejection for each server
}

// rejection explains why new tools of a server were not accepted.
type rejection struct {
	left   error // describes the tools that were not accepted because they are too large or because there are too many
	failed error // error from reading or writing the store; might be temporary
}

// Register registers the tools that a server lists. It accepts the definitions of new tools. It
// ignores tools without a name and tools whose names are longer than maxName. If it cannot register
// one of the other tools, it returns an error, unless the last call for the server failed with the
// same error.
func (g *Guard) Register(ctx context.Context, server string, tools []json.RawMessage) error {
	var all []Definition
	for _, object := range tools {
		lit, _ := rawjson.Member(object, "name")
		if name, ok := rawjson.String(lit); ok && len(name) <= maxName {
			all = append(all, Read(server, name, object))
		}
	}
	var now rejection
	now.left, now.failed = g.Store.Register(ctx, server, all)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rejections == nil {
		g.rejections = map[string]rejection{}
	}
	before := g.rejections[server]
	g.rejections[server] = now
	err := errors.Join(now.left, now.failed)
	if earlier := errors.Join(before.left, before.failed); err != nil && earlier != nil && err.Error() == earlier.Error() {
		return nil // the error has already been reported for this server
	}
	return err
}

// MustRegister reports whether the server's tools must be registered again, because the last attempt
// could not read or write the store.
func (g *Guard) MustRegister(server string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rejections[server].failed != nil
}

// RejectionReason returns the reason for not accepting a definition. It returns "" if the
// definition is accepted, or if the tool has no pin and the guard only warns. The reason can be
// shown to models: it does not reveal where the store is.
func (g *Guard) RejectionReason(d Definition) string {
	pin, known := g.Store.Find(d.Server, d.Tool)
	switch {
	case known && string(pin.Text) == string(d.Text):
		return ""
	case known:
		return "its definition differs from the one accepted on " + pin.Since.UTC().Format(time.DateOnly)
	case !g.Enforce:
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch is := g.rejections[d.Server]; {
	case is.failed != nil:
		return "its definition could not be stored; see petrigate's log"
	case is.left != nil:
		return "its definition could not be stored: " + text.Escape(is.left.Error())
	}
	return "its definition is not accepted yet"
}
