package proxy

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxListItems bounds what is gathered of a list: an upstream that exceeds it is
// broken or hostile.
const maxListItems = 20_000

// A listKind is one of the lists that upstreams have beside that of tools.
type listKind struct {
	method     string
	capability string
	member     string // of the result
	key        string // that tells its elements apart
}

var (
	promptList   = listKind{"prompts/list", "prompts", "prompts", "name"}
	resourceList = listKind{"resources/list", "resources", "resources", "uri"}
	templateList = listKind{"resources/templates/list", "resources", "resourceTemplates", "uriTemplate"}
)

// list serves a list. That of the only upstream goes through page by page;
// those of several are one list, in the order of the configuration.
func (p *Proxy) list(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream, kind listKind) {
	p.awaitUpstreams(ctx)
	p.ensureDeclared(ctx, c.speaker(meta))
	if !rev.Of(meta).Subscriptions {
		c.interests.saw("notifications/" + kind.capability + "/list_changed")
	}
	upstreams := p.offering(kind.capability)
	switch {
	case len(upstreams) == 0 && !p.offersStatus():
		s.Reply(wire.AppendError(nil, m.ID, codeNoMethod, "Method not found: no upstream has "+kind.capability, nil))
		return
	case len(upstreams) > 0 && p.passesThrough(kind):
		r := p.relayed(c, m, meta, s, upstreams[0])
		r.amend = func(page []byte) []byte { return p.withBuiltin(kind, page) }
		r.serve(ctx)
		return
	}
	if _, paged := rawjson.Member(m.Params, "cursor"); paged {
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, "Unknown cursor: the list has one page.", nil))
		return
	}
	items, around := p.gatherAll(ctx, kind, upstreams)
	result := append(append([]byte(`{"`), kind.member...), `":[`...)
	for i, item := range items {
		if i > 0 {
			result = append(result, ',')
		}
		result = append(result, item.object...)
	}
	result = append(around.Append(append(result, ']')), '}')
	result = p.withBuiltin(kind, result)
	s.Reply(wire.ResultHead(m.ID), rev.Of(meta).Result(result, kind.method), wire.Tail)
}

// passesThrough reports whether the list of the only upstream is that of the
// clients, byte for byte.
func (p *Proxy) passesThrough(kind listKind) bool {
	return len(p.upstreams) == 1 && (kind.key != "name" || p.upstreams[0].config.prefix(true) == "")
}

// An item is one element of a list of an upstream.
type item struct {
	upstream *upstreamState
	key      string // as the upstream calls it
	exposed  string // as the clients do
	object   []byte // as the clients see it
}

// gatherAll is the elements of the lists of all upstreams that have any, and
// what stands around them. The first of several that are called the same counts.
func (p *Proxy) gatherAll(ctx context.Context, kind listKind, upstreams []*upstreamState) ([]item, listing.Members) {
	var all []item
	around := listing.Members{Alone: len(p.upstreams) == 1}
	taken := map[string]*upstreamState{}
	for _, u := range upstreams {
		objects, err := u.gather(ctx, kind, &around)
		if err != nil {
			p.log.Warn("listing what an upstream has", "upstream", u.config.Name, "method", kind.method, "error", err)
		}
		for _, object := range objects {
			i := u.item(kind, object, len(p.upstreams) == 1)
			if first := taken[i.exposed]; first != nil {
				p.log.Warn("left out of a list", "upstream", u.config.Name, "method", kind.method, kind.key, text.Escape(i.exposed), "as of", first.config.Name)
				continue
			}
			taken[i.exposed] = u
			all = append(all, i)
		}
	}
	p.table(kind).set(all)
	return all, around
}

func (u *upstreamState) item(kind listKind, object []byte, alone bool) item {
	i := item{upstream: u, key: member(object, kind.key), object: object}
	i.exposed = i.key
	if kind.key == "name" && (!alone || u.config.prefix(alone) != "") { // or else the list goes through as it is
		i.exposed = toolname.Exposed(u.config.prefix(alone), i.key)
	}
	if i.exposed != i.key {
		i.object = wire.ReplaceMember(nil, object, kind.key, rawjson.AppendString(nil, i.exposed))
	}
	return i
}

// gather asks u for all pages of a list. What came before an error is good.
func (u *upstreamState) gather(ctx context.Context, kind listKind, around *listing.Members) (objects [][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	err = u.Pages(ctx, kind.method, func(page []byte) error {
		array, _ := rawjson.Member(page, kind.member)
		whole := rawjson.Elements(array, func(object []byte, _ int) bool {
			if rawjson.Check(object, listing.MaxDepth) == nil && member(object, kind.key) != "" {
				objects = append(objects, object)
			}
			return len(objects) < maxListItems
		})
		around.Add(u.config.Name, wire.AppendWithout(nil, page, kind.member))
		if !whole {
			return errors.New("the answer has no list, or one that is too long")
		}
		return nil
	})
	return objects, err
}
