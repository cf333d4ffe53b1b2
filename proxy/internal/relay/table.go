package relay

import (
	"sync/atomic"

	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/pool"
)

// A table maps items to their servers, according to the lists that were fetched last. It is used
// only if there are several servers.
type table struct {
	view atomic.Pointer[map[string]pool.Item] // items, keyed by exposed name
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
	listed    table // resources in lists, keyed by URI
	templates table // resource templates, keyed by URI template
}

// Owner returns the server that has a resource: the only server, or the server that lists the URI,
// or the first server with a matching template. Otherwise, it returns nil. URIs of any form are
// accepted.
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
