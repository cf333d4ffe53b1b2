package relay

import (
	"sync/atomic"

	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/pool"
)

// A table maps items to their servers according to the last lists. It is used only if there are
// several servers.
type table struct {
	view atomic.Pointer[map[string]pool.Item] // by exposed name
}

func (t *table) set(items []pool.Item) {
	byName := make(map[string]pool.Item, len(items))
	for _, i := range items {
		byName[i.Exposed] = i
	}
	t.view.Store(&byName)
}

func (t *table) get(name string) (pool.Item, bool) {
	view := t.view.Load()
	if view == nil {
		return pool.Item{}, false
	}
	i, ok := (*view)[name]
	return i, ok
}

// A resourceTables maps resources to their servers.
type resourceTables struct {
	listed    table // by URI
	templates table // by URI template
}

// Owner returns the server that has a resource: the only server, the one that lists the URI, or the
// first one with a matching template. If there is none, it returns nil. The form of the URI does
// not matter.
func (r *resourceTables) Owner(upstreams []*pool.Server, uri string) *pool.Server {
	if len(upstreams) == 1 {
		return upstreams[0]
	}
	if i, ok := r.listed.get(uri); ok {
		return i.Upstream
	}
	view := r.templates.view.Load()
	if view == nil {
		return nil
	}
	for _, u := range upstreams {
		for template, i := range *view {
			if i.Upstream == u && listing.MatchesTemplate(template, uri) {
				return u
			}
		}
	}
	return nil
}
