package relay

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// The proxy's own resource and prompt. They describe its status. Items with the same names are
// removed from the lists of upstreams, because only the proxy can describe the gate's decisions.
const (
	StatusURI    = "petrigate://status"
	StatusPrompt = "petrigate-status"
	StatusAbout  = "Which tools the policy lets you call now, and what the others require."
)

// OffersStatus reports whether any net enforces its decisions. If no net does, the proxy offers no
// status.
func (p *Relay) OffersStatus() bool { return p.Admission.Generation().Enforces }

// builtin returns the item that the proxy adds to a list, or nil.
func (p *Relay) builtin(kind listKind) *pool.Item {
	switch {
	case !p.OffersStatus():
		return nil
	case kind == PromptList:
		o := rawjson.Object{}.String("name", StatusPrompt).String("title", "petrigate status").String("description", StatusAbout)
		return &pool.Item{Exposed: StatusPrompt, Object: o.Bytes()}
	case kind == ResourceList:
		o := rawjson.Object{}.String("uri", StatusURI).String("name", "petrigate-status").String("title", "petrigate status")
		return &pool.Item{Exposed: StatusURI, Object: o.String("description", StatusAbout).String("mimeType", "text/markdown").Bytes()}
	}
	return nil
}

// withBuiltin removes items of upstreams that have the same name as the proxy's own item from a
// page of a list. It adds the proxy's item to the last page.
func (p *Relay) withBuiltin(kind listKind, page []byte) []byte {
	own := p.builtin(kind)
	array, _ := rawjson.Member(page, kind.member)
	if own == nil || rawjson.Kind(array) != '[' {
		return page
	}
	var list [][]byte
	rawjson.Elements(array, func(object []byte, _ int) bool {
		if rawjson.StringAt(object, kind.key) == own.Exposed {
			p.Life.Log.Warn("left out of a list: petrigate uses this name itself", "method", kind.method, kind.key, own.Exposed)
		} else {
			list = append(list, object)
		}
		return true
	})
	if cursor, more := rawjson.Member(page, "nextCursor"); !more || rawjson.Kind(cursor) != '"' {
		list = append(list, own.Object)
	}
	return wire.ReplaceMember(nil, page, kind.member, rawjson.Array(list...))
}

// A listKind is a kind of list other than tools/list.
type listKind struct {
	method     string
	capability string
	member     string // member of the result that contains the items
	key        string // member of an item that identifies it
}

var (
	PromptList   = listKind{"prompts/list", "prompts", "prompts", "name"}
	ResourceList = listKind{"resources/list", "resources", "resources", "uri"}
	TemplateList = listKind{"resources/templates/list", "resources", "resourceTemplates", "uriTemplate"}
)
