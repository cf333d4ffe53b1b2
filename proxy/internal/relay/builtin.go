package relay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// URI, name and description of the proxy's own resource and prompt. They show the status of the
// client's session. Upstream items with this URI or name are removed from lists, because only the
// proxy can describe the gate's decisions.
const (
	StatusURI    = "petrigate://status"
	StatusPrompt = "petrigate-status"
	StatusAbout  = "Which tools the policy lets you call now, and what the others require."
)

// OffersStatus reports whether the proxy offers its status resource and prompt. It offers them only
// if at least one net enforces its decisions.
func (p *Relay) OffersStatus() bool { return p.Admission.Generation().Enforces }

// builtinItem returns the proxy's own item for lists of the given kind, or nil if the proxy adds no
// item to them.
func (p *Relay) builtinItem(kind listKind) *pool.Item {
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

// addBuiltin removes upstream items that have the same name as the proxy's own item from a page of
// a list. It adds the proxy's item to the last page.
func (p *Relay) addBuiltin(kind listKind, page []byte) []byte {
	own := p.builtinItem(kind)
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
	member     string // name of the result member that contains the items
	key        string // name of the member that identifies an item
}

var (
	PromptList   = listKind{"prompts/list", "prompts", "prompts", "name"}
	ResourceList = listKind{"resources/list", "resources", "resources", "uri"}
	TemplateList = listKind{"resources/templates/list", "resources", "resourceTemplates", "uriTemplate"}
)

// maxSearches is the maximum number of searches for remedies in one status document. A remedy is a
// change that would allow a refused call. The number is limited because each search takes time.
const maxSearches = 20

// A statusDoc describes a client's session: the tools that the client can call now, and the reasons
// why it cannot call the others. It does not mention nets in shadow mode or the arguments of calls.
type statusDoc struct {
	proxy    *Relay
	session  string
	state    *gate.State
	now      time.Time
	searches int // number of searches for remedies so far

	advertised gate.Advertised
	hidden     map[string]bool // tools whose calls are refused regardless of their arguments

	free, asking, depends []string // names of tools: those that can be called, those that require approval, and those whose arguments affect the decision
	refused               []string // lines of text about refused tools
}

// Status returns the status of a session as Markdown.
func (p *Relay) Status(s *session.Session) string {
	d := &statusDoc{proxy: p, session: s.ID, now: p.Life.Now(), hidden: map[string]bool{}}
	view := p.Pool.Catalogue.Load()
	state, err := p.Pool.Snapshot(s)
	if err != nil {
		return "# petrigate status\n\nThis session has ended.\n"
	}
	d.state = state
	d.advertised = state.Policy().Advertise(state, view.Calls, d.now)
	for _, h := range d.advertised.Hidden {
		d.hidden[h.Tool] = true
	}
	for _, c := range view.Calls {
		c.Time = d.now
		decision, _ := state.Policy().Decide(state, c, nil) // Decide does not change the state
		d.add(c, decision)
	}
	return d.String()
}

// add adds a tool to the document, according to the gate's decision on a call without arguments.
func (d *statusDoc) add(c gate.Call, decision gate.Decision) {
	switch r := decision.(type) {
	case *gate.Allow:
		d.free = append(d.free, c.Tool)
	case *gate.Ask:
		d.asking = append(d.asking, c.Tool)
	case *gate.Refusal:
		if d.isAlwaysRefused(c, r) {
			d.refused = append(d.refused, fmt.Sprintf("- %s: %s", c.Tool, d.refusalText(c, r)))
		} else {
			d.depends = append(d.depends, c.Tool)
		}
	}
}

// isAlwaysRefused reports whether every call to a tool is refused, regardless of its arguments. c
// is a call to the tool without arguments, and r is the refusal of c. If "default: deny" refuses c,
// isAlwaysRefused assumes that it refuses every call to the tool.
func (d *statusDoc) isAlwaysRefused(c gate.Call, r *gate.Refusal) bool {
	switch r.Kind {
	case gate.KindBlocked:
		return d.hidden[c.Tool]
	case gate.KindDefault:
		return true
	}
	return false
}

// refusalText returns an explanation of a refusal, with a description of the remedy if one is
// found.
func (d *statusDoc) refusalText(c gate.Call, r *gate.Refusal) string {
	text := d.proxy.Admission.Text(r, d.session, d.now)
	remedy := d.proxy.Admission.Generation().Remedy
	if remedy == nil || r.Retry > 0 || d.searches == maxSearches {
		return text
	}
	d.searches++
	if way := remedy(d.state.Clone(), c, r); way.Text != "" {
		text += " " + way.Text
	}
	return text
}

func (d *statusDoc) String() string {
	var b strings.Builder
	b.WriteString("# petrigate status\n\nA decision can also depend on the arguments. A refused call is not made; the text of its result gives the reason.\n")
	writeSection(&b, "Servers that are unavailable now, with their tools", d.proxy.downNames())
	writeSection(&b, "Available now", d.free)
	writeSection(&b, "Available once a person has approved the call", d.asking)
	writeSection(&b, "Depends on the arguments", d.depends)
	if len(d.refused) > 0 {
		fmt.Fprintf(&b, "\n## Not available now\n\n%s\n", strings.Join(d.refused, "\n"))
	}
	d.writeConflict(&b)
	b.WriteString("\n## State\n\n")
	for _, n := range d.state.Policy().NetsOf(d.state) {
		if !n.Active || n.Shadow {
			continue
		}
		yields := ""
		if slices.Contains(d.advertised.Ignored, n.Name) {
			yields = " (advisory: it does not block now)"
		}
		fmt.Fprintf(&b, "- %s: %s%s\n", n.Name, cmp.Or(n.Marking.String(), "no tokens"), yields)
	}
	for _, h := range d.state.Open() {
		fmt.Fprintf(&b, "- call #%d of %s has been in flight for %s\n", h.Number, h.Tool, text.Duration(d.now.Sub(h.Since)))
	}
	return b.String()
}

// writeConflict writes the names of the nets that together block every tool, if there is such a
// conflict. It also names the advisory nets among them, which are ignored while the conflict lasts.
func (d *statusDoc) writeConflict(b *strings.Builder) {
	c := d.advertised.Conflict
	if c == nil {
		return
	}
	nets := strings.Join(c.Nets, ", ")
	if len(c.Yields) == 0 {
		fmt.Fprintf(b, "\n## Conflict\n\nTogether these nets block every tool: %s. They are required, so each of them blocks calls.\n", nets)
	} else {
		fmt.Fprintf(b, "\n## Conflict\n\nTogether these nets would block every tool: %s. Advisory nets yield, and do not block now: %s.\n", nets, strings.Join(c.Yields, ", "))
	}
}

// downNames returns the names of the servers that are not up, each with its connection phase.
func (p *Relay) downNames() []string {
	var names []string
	for _, u := range p.Pool.Servers {
		if phase := u.State().Phase; phase != upstream.Up {
			names = append(names, u.Config.Name+" ("+phase.String()+")")
		}
	}
	return names
}

// writeSection writes a heading followed by the names, or nothing if names is empty.
func writeSection(b *strings.Builder, title string, names []string) {
	if len(names) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", title, strings.Join(names, ", "))
	}
}
