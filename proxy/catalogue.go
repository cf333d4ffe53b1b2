package proxy

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A catalogue is the one table of the tools that can be called: what is
// listed and what is called are looked up here, and nowhere else.
type catalogue struct {
	upstreams []*upstreamState
	log       *slog.Logger
	view      atomic.Pointer[toolView]

	impossible func([]gate.Call) []string // tools that are not listed; nil: all are

	mu      sync.Mutex
	raw     map[*upstreamState][][]byte          // the tool objects, as they came
	pages   map[*upstreamState][]json.RawMessage // what stood around them
	once    map[*upstreamState]bool              // listed at least once
	changed chan struct{}                        // closed at the next listing
}

// A toolView is one state of the catalogue. It never changes.
type toolView struct {
	tools    map[string]*tool // by exposed name
	order    []*tool
	calls    []gate.Call // of order, without arguments
	around   []byte      // the members of the list beside its tools
	elements int         // the length of list without them
	list     []byte      // the result of tools/list, for clients with a handshake
	list2026 []byte      // the same for revision 2026-07-28
	problems []string
	warnings []string // of what is listed, and of what the configuration says of it

	filtered map[string]*tool // by exposed name; tools that the configuration does not offer
}

// A tool is one tool of an upstream.
type tool struct {
	upstream   *upstreamState
	name       string // the upstream's
	exposed    string // the client's
	canonical  string // upstream.tool
	also       []gate.Name
	others     map[string]bool // names of all tools that an action could read like
	foreign    bool            // the exposed name could be one of another upstream
	object     []byte          // as the client sees it
	definition string          // hash of the upstream's object
	annotates  []byte          // its annotations, as the upstream wrote them; nil: none
	why        string          // it is filtered out; empty: it is not

	onlyTask bool // it can be called as a task only

	mirrored *mcp.Tool // where arguments are to stand in headers too; nil: nowhere
}

func newCatalogue(upstreams []*upstreamState, log *slog.Logger) *catalogue {
	c := &catalogue{upstreams: upstreams, log: log, raw: map[*upstreamState][][]byte{}, pages: map[*upstreamState][]json.RawMessage{}, once: map[*upstreamState]bool{}, changed: make(chan struct{})}
	c.view.Store(c.build())
	return c
}

func (c *catalogue) load() *toolView { return c.view.Load() }

// set replaces the tools of one upstream, and what stood around them, and
// reports whether the tools that clients see are others than before.
func (c *catalogue) set(u *upstreamState, objects [][]byte, pages []json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw[u], c.pages[u], c.once[u] = objects, pages, true
	before := c.view.Load()
	changed, after := c.renew()
	close(c.changed)
	c.changed = make(chan struct{})
	if !slices.Equal(before.problems, after.problems) {
		c.complain(after.problems)
	}
	for _, warning := range after.warnings {
		if !slices.Contains(before.warnings, warning) {
			c.log.Warn("doubtful tool list", "reason", warning)
		}
	}
	return changed
}

// maxComplaints is how many tools that are left out the log says why of, at
// one time.
const maxComplaints = 20

func (c *catalogue) complain(problems []string) {
	for i, problem := range problems {
		if i == maxComplaints {
			c.log.Warn("more tools left out", "tools", len(problems)-i)
			return
		}
		c.log.Warn("tool left out", "reason", problem)
	}
}

// relist is set where the nets have changed and not the tools.
func (c *catalogue) relist() (changed bool) {
	if c.impossible == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, _ = c.renew()
	return changed
}

// renew makes the view anew. It wants the lock.
func (c *catalogue) renew() (changed bool, after *toolView) {
	before, after := c.view.Load(), c.build()
	c.view.Store(after)
	return !before.shows(after), after
}

// shows reports whether clients see the same tools in v as in another state.
func (v *toolView) shows(other *toolView) bool {
	return string(v.list[:v.elements]) == string(other.list[:other.elements])
}

// next is closed when an upstream is listed after this.
func (c *catalogue) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// listed reports whether u has been listed since it was started.
func (c *catalogue) listed(u *upstreamState) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.once[u]
}

// build makes a view of all that is known. Names that collide are all left
// out: none may silently stand for another.
func (c *catalogue) build() *toolView {
	v := &toolView{tools: map[string]*tool{}, filtered: map[string]*tool{}}
	taken := map[string][]*tool{}
	around := listing.Members{Alone: len(c.upstreams) == 1}
	for _, u := range c.upstreams {
		for _, page := range c.pages[u] {
			around.Add(u.config.Name, page)
		}
		for _, t := range c.toolsOf(u, v) {
			taken[t.exposed] = append(taken[t.exposed], t)
			v.order = append(v.order, t)
		}
	}
	addNames(v.order, c.owners())
	kept := v.order[:0]
	for _, t := range v.order {
		if same := taken[t.exposed]; len(same) > 1 {
			v.problems = append(v.problems, collision(t, same))
			continue
		}
		v.tools[t.exposed] = t
		kept = append(kept, t)
	}
	v.order = kept
	if warning := listing.Crowded(len(kept)); warning != "" {
		v.warnings = append(v.warnings, warning)
	}
	for _, t := range v.order {
		v.calls = append(v.calls, t.call())
	}
	v.around = around.Append(nil)
	v.encode(c.hidden(v.calls))
	return v
}

// toolsOf are the tools of u that can be called. The others, and what is wrong,
// go to v.
func (c *catalogue) toolsOf(u *upstreamState, v *toolView) (tools []*tool) {
	var names []string
	for _, object := range c.raw[u] {
		t, problem := newTool(u, object, len(c.upstreams) == 1)
		if problem != "" {
			v.problems = append(v.problems, u.config.Name+": "+problem)
			continue
		}
		names = append(names, t.name)
		if t.why = u.config.Tools.Filtered(t.name); t.why != "" {
			v.filtered[t.exposed] = t
			continue
		}
		tools = append(tools, t)
	}
	if c.once[u] {
		for _, warning := range u.config.Tools.Unmatched(names) {
			v.warnings = append(v.warnings, u.config.Name+": "+warning)
		}
	}
	return tools
}

// hidden are the tools that are not listed.
func (c *catalogue) hidden(tools []gate.Call) map[string]bool {
	if c.impossible == nil || len(tools) == 0 {
		return nil
	}
	hidden := map[string]bool{}
	for _, name := range c.impossible(tools) {
		hidden[name] = true
	}
	return hidden
}

func collision(t *tool, same []*tool) string {
	var names []string
	for _, s := range same {
		names = append(names, s.canonical)
	}
	return "the name " + t.exposed + " stands for " + strings.Join(names, " and ") + "; give one of the upstreams another prefix"
}

func newTool(u *upstreamState, object []byte, alone bool) (t *tool, problem string) {
	read, problem := listing.Read(object, u.config.prefix(alone))
	if problem != "" {
		return nil, problem
	}
	return &tool{
		upstream: u, name: read.Name, exposed: read.Exposed, canonical: u.config.Name + "." + read.Name,
		object: read.Object, definition: read.Definition, annotates: read.Annotations,
		onlyTask: read.OnlyTask, mirrored: read.Mirrored,
	}, ""
}

// prefix returns what stands before the names of c's tools for clients; alone says
// that there is no other upstream.
func (c Upstream) prefix(alone bool) string {
	prefix := ""
	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	return toolname.Prefix(c.Name, prefix, c.Prefix != nil, alone)
}

// addNames gives the tools their further names, and those of the others that an
// action could read like.
func addNames(tools []*tool, owners toolname.Owners) {
	all := make([]toolname.Names, 0, len(tools))
	others := map[string]bool{}
	for _, t := range tools {
		all = append(all, toolname.Names{Upstream: t.upstream.config.Name, Exposed: t.exposed, Bare: t.name, Canonical: t.canonical})
		others[t.canonical] = true
		if strings.Contains(t.name, ".") {
			others[t.name] = true
		}
	}
	for i, names := range toolname.Further(all, owners) {
		tools[i].also, tools[i].others, tools[i].foreign = names, others, owners.Foreign(all[i])
	}
}

// owners returns the upstreams with the prefixes of their tools.
func (c *catalogue) owners() toolname.Owners {
	var owners toolname.Owners
	for _, u := range c.upstreams {
		owners = append(owners, toolname.Owner{Upstream: u.config.Name, Prefix: u.config.prefix(len(c.upstreams) == 1)})
	}
	return owners
}

// encode writes the two forms of the list, but for what is hidden.
func (v *toolView) encode(hidden map[string]bool) {
	list := appendTools(nil, v.order, hidden)
	v.elements = len(list)
	list = append(list, v.around...)
	v.list = append(list[:len(list):len(list)], '}')
	v.list2026 = append(list[:len(list):len(list)], `,"resultType":"complete","ttlMs":0,"cacheScope":"private"}`...)
}

// appendTools writes the result of tools/list up to the end of the tools.
func appendTools(list []byte, tools []*tool, hidden map[string]bool) []byte {
	list = append(list, `{"tools":[`...)
	for _, t := range tools {
		if hidden[t.exposed] {
			continue
		}
		if list[len(list)-1] != '[' {
			list = append(list, ',')
		}
		list = append(list, t.object...)
	}
	return append(list, ']')
}

// awaitList waits until every upstream was listed or has failed for now, and
// no longer than upstreams may take to start.
func (p *Proxy) awaitList(ctx context.Context) {
	for _, u := range p.upstreams {
		if p.catalogue.listed(u) {
			continue
		}
		select {
		case <-u.settled:
		case <-ctx.Done():
			return
		case <-p.startup.Done():
			return
		}
	}
}

// awaitTool waits for the tool of that name while upstreams are still starting.
func (p *Proxy) awaitTool(ctx context.Context, exposed string) *tool {
	starting, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends with starting
		defer stop()
		p.awaitList(starting)
	}()
	for {
		next := p.catalogue.next()
		if t := p.known(exposed); t != nil {
			return t
		}
		select {
		case <-next:
		case <-starting.Done():
			return p.catalogue.load().tools[exposed]
		}
	}
}

// known is the tool of that name, unless an upstream that is still starting
// may have one of the same name: then neither can be called, and it is too
// early to tell.
func (p *Proxy) known(exposed string) *tool {
	t := p.catalogue.load().tools[exposed]
	if t == nil || p.startup.Err() != nil {
		return t
	}
	for _, u := range p.upstreams {
		if u != t.upstream && u.starting() && strings.HasPrefix(exposed, u.config.prefix(false)) {
			return nil
		}
	}
	return t
}

// down names the upstreams that are not running, or not listed yet.
func (p *Proxy) down() string {
	var names []string
	for _, u := range p.upstreams {
		if u.State().Phase != upstream.Up || !u.listing.logged.Load() {
			names = append(names, u.absence())
		}
	}
	return strings.Join(names, ", ")
}
