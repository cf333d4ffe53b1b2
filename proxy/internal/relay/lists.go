package relay

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxListItems is the maximum number of items accepted per list. An upstream that sends more is
// broken or hostile.
const maxListItems = 20_000

// List serves prompts/list, resources/list and resources/templates/list. If there is only one
// server, and the names in its list get no prefix, the list is forwarded page by page. Otherwise,
// the servers' lists are joined in configuration order and returned as one page.
func (p *Relay) List(ctx context.Context, q session.Request, kind listKind) ([]byte, error) {
	p.Pool.AwaitUpstreams(ctx)
	p.Pool.EnsureDeclared(ctx, q.Peer())
	if !q.Rev().Subscriptions {
		q.Client.Subscriptions.SawList("notifications/" + kind.capability + "/list_changed")
	}
	upstreams := p.Pool.ServersWith(kind.capability)
	switch {
	case len(upstreams) == 0 && !p.OffersStatus():
		return nil, wire.NewFault(wire.CodeMethodNotFound, "Method not found: no upstream has "+kind.capability)
	case len(upstreams) > 0 && p.passesThrough(kind):
		r := p.newRequest(q, upstreams[0])
		r.Amend = func(page []byte) []byte { return p.addBuiltin(kind, page) }
		return r.Serve(ctx)
	}
	if _, paged := rawjson.Member(q.Message.Params, "cursor"); paged {
		return nil, wire.NewFault(wire.CodeInvalidParams, "Unknown cursor: the list has one page.")
	}
	items, around := p.gatherAll(ctx, kind, upstreams)
	var objects [][]byte
	for _, item := range items {
		objects = append(objects, item.Object)
	}
	list := rawjson.Object{}.Raw(kind.member, rawjson.Array(objects...))
	page := rawjson.Object(around.Append(list)).Bytes()
	return q.Rev().Result(p.addBuiltin(kind, page), kind.method), nil
}

// passesThrough reports whether the list is forwarded page by page. This is the case if the proxy
// has only one server and adds no prefix to the names in the list.
func (p *Relay) passesThrough(kind listKind) bool {
	return len(p.Pool.Servers) == 1 && (kind.key != "name" || p.Pool.Servers[0].Config.ExposedPrefix(true) == "")
}

// gatherAll fetches the lists of the given servers and stores the items in the table for this kind
// of list. If several items have the same name, it keeps only the first. If a server fails, it uses
// the items received so far. gatherAll returns the items, and the members of the servers' results
// other than the lists.
func (p *Relay) gatherAll(ctx context.Context, kind listKind, upstreams []*pool.Server) ([]pool.Item, listing.Members) {
	var all []pool.Item
	around := listing.Members{Alone: len(p.Pool.Servers) == 1}
	taken := map[string]*pool.Server{}
	for _, u := range upstreams {
		objects, err := gather(ctx, u, kind, &around)
		if err != nil {
			p.Life.Log.Warn("listing an upstream", "upstream", u.Config.Name, "method", kind.method, "error", err)
		}
		for _, object := range objects {
			i := itemOf(u, kind, object, len(p.Pool.Servers) == 1)
			if first := taken[i.Exposed]; first != nil {
				p.Life.Log.Warn("left out of a list", "upstream", u.Config.Name, "method", kind.method, kind.key, text.Escape(i.Exposed), "as of", first.Config.Name)
				continue
			}
			taken[i.Exposed] = u
			all = append(all, i)
		}
	}
	p.table(kind).set(all)
	return all, around
}

// itemOf converts an object in a list to an Item with the name used by clients.
func itemOf(u *pool.Server, kind listKind, object []byte, alone bool) pool.Item {
	i := pool.Item{Upstream: u, Key: rawjson.StringAt(object, kind.key), Object: object}
	i.Exposed = i.Key
	if kind.key == "name" && (!alone || u.Config.ExposedPrefix(alone) != "") { // if a single server has no prefix, its items keep their names
		i.Exposed = toolname.Exposed(u.Config.ExposedPrefix(alone), i.Key)
	}
	if i.Exposed != i.Key {
		i.Object = wire.ReplaceMember(nil, object, kind.key, rawjson.AppendString(nil, i.Exposed))
	}
	return i
}

// gather requests all pages of a list from u. On error, it returns the items received so far.
func gather(ctx context.Context, u *pool.Server, kind listKind, around *listing.Members) (objects [][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, spec.ListTimeout)
	defer cancel()
	err = u.Pages(ctx, kind.method, func(page []byte) error {
		array, _ := rawjson.Member(page, kind.member)
		whole := rawjson.Elements(array, func(object []byte, _ int) bool {
			if rawjson.Check(object, listing.MaxDepth) == nil && rawjson.StringAt(object, kind.key) != "" {
				objects = append(objects, object)
			}
			return len(objects) < maxListItems
		})
		around.Add(u.Config.Name, wire.AppendWithout(nil, page, kind.member))
		if !whole {
			return errors.New("the answer has no list, or one that is too long")
		}
		return nil
	})
	return objects, err
}

// table returns the table of prompts, resources or resource templates, depending on the kind of
// list.
func (p *Relay) table(kind listKind) *table {
	switch kind {
	case PromptList:
		return &p.prompts
	case ResourceList:
		return &p.Resources.listed
	}
	return &p.Resources.templates
}
