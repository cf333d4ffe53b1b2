package pool

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/listing"
)

// A Catalogue is the one table of the tools that can be called: what is
// listed and what is called are looked up here, and nowhere else.
type Catalogue struct {
	upstreams []*Server
	log       *slog.Logger
	view      atomic.Pointer[ToolView]

	Impossible func([]gate.Call) []string // tools that are not listed; nil: all are

	mu         sync.Mutex
	raw        map[*Server][][]byte          // the tool objects, as they came
	pages      map[*Server][]json.RawMessage // what stood around them
	listedOnce map[*Server]bool              // listed at least once
	changed    chan struct{}                 // closed at the next listing
}

// A ToolView is one state of the catalogue. It never changes.
type ToolView struct {
	tools    map[string]*Tool // by exposed name
	Order    []*Tool
	Calls    []gate.Call // of order, without arguments
	Around   []byte      // the members of the list beside its tools
	elements int         // the length of list without them
	List     []byte      // the result of tools/list, for clients with a handshake
	List2026 []byte      // the same for revision 2026-07-28
	Problems []string
	Warnings []string // of what is listed, and of what the configuration says of it

	Filtered map[string]*Tool // by exposed name; tools that the configuration does not offer
}

func NewCatalogue(upstreams []*Server, log *slog.Logger) *Catalogue {
	c := &Catalogue{upstreams: upstreams, log: log, raw: map[*Server][][]byte{}, pages: map[*Server][]json.RawMessage{}, listedOnce: map[*Server]bool{}, changed: make(chan struct{})}
	c.view.Store(c.build())
	return c
}

func (c *Catalogue) Load() *ToolView { return c.view.Load() }

// set replaces the tools of one upstream, and what stood around them, and
// reports whether the tools that clients see are others than before.
func (c *Catalogue) set(u *Server, objects [][]byte, pages []json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw[u], c.pages[u], c.listedOnce[u] = objects, pages, true
	before := c.view.Load()
	changed, after := c.renew()
	close(c.changed)
	c.changed = make(chan struct{})
	if !slices.Equal(before.Problems, after.Problems) {
		c.logProblems(after.Problems)
	}
	for _, warning := range after.Warnings {
		if !slices.Contains(before.Warnings, warning) {
			c.log.Warn("doubtful tool list", "reason", warning)
		}
	}
	return changed
}

// maxComplaints is how many tools that are left out the log says why of, at
// one time.
const maxLoggedProblems = 20

func (c *Catalogue) logProblems(problems []string) {
	for i, problem := range problems {
		if i == maxLoggedProblems {
			c.log.Warn("more tools left out", "tools", len(problems)-i)
			return
		}
		c.log.Warn("tool left out", "reason", problem)
	}
}

// Relist is set where the nets have changed and not the tools.
func (c *Catalogue) Relist() (changed bool) {
	if c.Impossible == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, _ = c.renew()
	return changed
}

// renew makes the view anew. It wants the lock.
func (c *Catalogue) renew() (changed bool, after *ToolView) {
	before, after := c.view.Load(), c.build()
	c.view.Store(after)
	return !before.Shows(after), after
}

// Shows reports whether clients see the same tools in v as in another state.
func (v *ToolView) Shows(other *ToolView) bool {
	return string(v.List[:v.elements]) == string(other.List[:other.elements])
}

// next is closed when an upstream is listed after this.
func (c *Catalogue) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// listed reports whether u has been listed since it was started.
func (c *Catalogue) listed(u *Server) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listedOnce[u]
}

// build makes a view of all that is known. Names that collide are all left
// out: none may silently stand for another.
func (c *Catalogue) build() *ToolView {
	v := &ToolView{tools: map[string]*Tool{}, Filtered: map[string]*Tool{}}
	taken := map[string][]*Tool{}
	around := listing.Members{Alone: len(c.upstreams) == 1}
	for _, u := range c.upstreams {
		for _, page := range c.pages[u] {
			around.Add(u.Config.Name, page)
		}
		for _, t := range c.toolsOf(u, v) {
			taken[t.Exposed] = append(taken[t.Exposed], t)
			v.Order = append(v.Order, t)
		}
	}
	addNames(v.Order, c.Owners())
	kept := v.Order[:0]
	for _, t := range v.Order {
		if same := taken[t.Exposed]; len(same) > 1 {
			v.Problems = append(v.Problems, collision(t, same))
			continue
		}
		v.tools[t.Exposed] = t
		kept = append(kept, t)
	}
	v.Order = kept
	if warning := listing.Crowded(len(kept)); warning != "" {
		v.Warnings = append(v.Warnings, warning)
	}
	for _, t := range v.Order {
		v.Calls = append(v.Calls, t.Call())
	}
	v.Around = around.Append(nil)
	v.encode(c.hidden(v.Calls))
	return v
}

// toolsOf are the tools of u that can be called. The others, and what is wrong,
// go to v.
func (c *Catalogue) toolsOf(u *Server, v *ToolView) (tools []*Tool) {
	var names []string
	for _, object := range c.raw[u] {
		t, problem := newTool(u, object, len(c.upstreams) == 1)
		if problem != "" {
			v.Problems = append(v.Problems, u.Config.Name+": "+problem)
			continue
		}
		names = append(names, t.Name)
		if t.Why = u.Config.Tools.Filtered(t.Name); t.Why != "" {
			v.Filtered[t.Exposed] = t
			continue
		}
		tools = append(tools, t)
	}
	if c.listedOnce[u] {
		for _, warning := range u.Config.Tools.Unmatched(names) {
			v.Warnings = append(v.Warnings, u.Config.Name+": "+warning)
		}
	}
	return tools
}

// hidden are the tools that are not listed.
func (c *Catalogue) hidden(tools []gate.Call) map[string]bool {
	if c.Impossible == nil || len(tools) == 0 {
		return nil
	}
	hidden := map[string]bool{}
	for _, name := range c.Impossible(tools) {
		hidden[name] = true
	}
	return hidden
}

func collision(t *Tool, same []*Tool) string {
	var names []string
	for _, s := range same {
		names = append(names, s.Canonical)
	}
	return "the name " + t.Exposed + " stands for " + strings.Join(names, " and ") + "; give one of the upstreams another prefix"
}

// Owners returns the upstreams with the prefixes of their tools.
func (c *Catalogue) Owners() toolname.Owners {
	var owners toolname.Owners
	for _, u := range c.upstreams {
		owners = append(owners, toolname.Owner{Upstream: u.Config.Name, Prefix: u.Config.ExposedPrefix(len(c.upstreams) == 1)})
	}
	return owners
}

// encode writes the two forms of the list, but for what is hidden.
func (v *ToolView) encode(hidden map[string]bool) {
	list := AppendTools(nil, v.Order, hidden)
	v.elements = len(list)
	list = append(list, v.Around...)
	v.List = append(list[:len(list):len(list)], '}')
	v.List2026 = append(list[:len(list):len(list)], `,"resultType":"complete","ttlMs":0,"cacheScope":"private"}`...)
}

// AppendTools writes the result of tools/list up to the end of the tools.
func AppendTools(list []byte, tools []*Tool, hidden map[string]bool) []byte {
	list = append(list, `{"tools":[`...)
	for _, t := range tools {
		if hidden[t.Exposed] {
			continue
		}
		if list[len(list)-1] != '[' {
			list = append(list, ',')
		}
		list = append(list, t.Object...)
	}
	return append(list, ']')
}
