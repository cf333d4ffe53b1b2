package pool

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/toolpin"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A Catalogue holds the tools of all servers, for tools/list and tools/call requests. It is safe
// for concurrent use once its exported fields are set. Loading the current [ToolView] takes no
// lock. mu guards the unexported fields and serializes changes.
type Catalogue struct {
	upstreams []*Server
	log       *slog.Logger
	view      atomic.Pointer[ToolView]

	Impossible func([]gate.Call) []string // returns the tools to omit from the list, by the names that clients use; if nil, all tools are listed
	Pins       *toolpin.Guard             // accepted tool definitions; if nil, servers may change their definitions freely
	Noticed    func(*Tool)                // called when a tool is first seen with a definition that is not accepted; may be nil

	mu      sync.Mutex
	beside  []AgentTools
	lists   map[*Server]upstream.ToolList // latest tools/list result of each server whose tools have been listed
	changed chan struct{}                 // closed the next time tools are listed
}

// A ToolView is an immutable snapshot of the tools in the [Catalogue].
type ToolView struct {
	tools    map[string]*Tool // tools that can be called, keyed by the name that clients use
	Order    []*Tool
	Calls    []gate.Call // for each tool in Order, a call without arguments, in the form required by the gate
	Around   []byte      // members of the tools/list result other than "tools", as raw JSON
	elements int         // offset in List where the tools end
	List     []byte      // the tools/list result for clients that have sent initialize
	List2026 []byte      // the tools/list result for revision 2026-07-28
	Problems []string
	Warnings []string // warnings about tools and their configuration
	Crowded  string   // warning about too many tools, or ""

	Filtered map[string]*Tool // tools that are filtered out or quarantined, keyed by the name that clients use
	Changed  []*Tool          // tools whose definition has not been accepted
}

func NewCatalogue(upstreams []*Server, log *slog.Logger) *Catalogue {
	c := &Catalogue{upstreams: upstreams, log: log, lists: map[*Server]upstream.ToolList{}, changed: make(chan struct{})}
	c.view.Store(c.build())
	return c
}

// AgentTools holds the names of an agent's own tools, which the agent calls without a server.
type AgentTools struct {
	Agent string
	Names []string
}

// has reports whether any of the agent's tools has the given name.
func (b AgentTools) has(name string) bool {
	return strings.HasPrefix(name, b.Agent+".") || slices.Contains(b.Names, name)
}

// RegisterAgentTools registers the names of an agent's own tools. A server could use such a name to
// pass off its tool as the agent's. A rule that restricts calls by this name therefore applies to
// the server's tool, too. But if a rule requires a call to the agent's tool, a call to the server's
// tool does not count.
func (c *Catalogue) RegisterAgentTools(b AgentTools) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beside = append(c.beside, b)
	c.renew()
}

// markAgentNames marks the tools in the view v that have the same name as one of an agent's own
// tools, and adds warnings. The caller must hold mu.
func (c *Catalogue) markAgentNames(v *ToolView) {
	for _, b := range c.beside {
		for _, t := range v.Order {
			instead := "call it " + t.Canonical + " in rules"
			if b.has(t.Canonical) {
				instead = "give the server a different name"
			}
			if t.markAgentNames(b.has) {
				v.Warnings = append(v.Warnings, t.Canonical+" has the same name as a tool of "+b.Agent+" itself, so calls by that name are not evidence: "+instead)
			}
		}
	}
}

// Load returns the current snapshot of the tools.
func (c *Catalogue) Load() *ToolView { return c.view.Load() }

// set replaces the tools of the server u, and the other members of its list. It reports whether
// clients now see different tools.
func (c *Catalogue) set(ctx context.Context, u *Server, list upstream.ToolList) bool {
	c.offerToPins(ctx, u, list)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists[u] = list
	changed := c.renew()
	close(c.changed)
	c.changed = make(chan struct{})
	return changed
}

// offerToPins passes the server's tools to Pins, which accepts the definitions of new tools. It
// ignores tools that were listed on a dedicated connection.
func (c *Catalogue) offerToPins(ctx context.Context, u *Server, list upstream.ToolList) {
	if c.Pins == nil || u.Dedicated() {
		return
	}
	if err := c.Pins.Register(ctx, u.Config.Name, list.Tools); err != nil {
		c.log.Warn("cannot store the definitions of a server's new tools", "upstream", u.Config.Name, "error", err)
	}
}

// list returns the server's latest tools/list result, or an empty result if the server's tools were
// never listed.
func (c *Catalogue) list(u *Server) upstream.ToolList {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists[u]
}

// tellChanged calls Noticed for each tool in the new view whose definition is not accepted. It
// skips a tool if the old view already rejected the same definition for the same reason.
func (c *Catalogue) tellChanged(before, after *ToolView) {
	for _, t := range after.Changed {
		same := func(o *Tool) bool {
			return o.Canonical == t.Canonical && o.Definition == t.Definition && o.Unaccepted == t.Unaccepted
		}
		if c.Noticed != nil && !slices.ContainsFunc(before.Changed, same) {
			c.Noticed(t)
		}
	}
}

// maxLoggedProblems is the maximum number of omitted tools that are logged per change.
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

// Relist rebuilds the [ToolView] after a change to the nets or to the accepted definitions. It
// reports whether clients now see different tools.
func (c *Catalogue) Relist() (changed bool) {
	if c.Impossible == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renew()
}

// renew rebuilds the [ToolView] and logs its new problems and warnings. It reports whether clients
// now see different tools. The caller must hold mu.
func (c *Catalogue) renew() (changed bool) {
	before, after := c.view.Load(), c.build()
	c.view.Store(after)
	told := func(problem string) bool { return slices.Contains(before.Problems, problem) }
	c.logProblems(slices.DeleteFunc(slices.Clone(after.Problems), told))
	for _, warning := range after.Warnings {
		if !slices.Contains(before.Warnings, warning) {
			c.log.Warn("doubtful tool list", "reason", warning)
		}
	}
	c.tellChanged(before, after)
	return !before.ShowsSame(after)
}

// ShowsSame reports whether both views show the same tools to clients.
func (v *ToolView) ShowsSame(other *ToolView) bool {
	return string(v.List[:v.elements]) == string(other.List[:other.elements])
}

// Tool returns the tool that clients call by the given name, or nil.
func (v *ToolView) Tool(exposed string) *Tool { return v.tools[exposed] }

// nextListing returns a channel that is closed the next time a server lists its tools.
func (c *Catalogue) nextListing() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// build returns a new [ToolView] of all tools. If clients would call several tools by the same
// name, it leaves all of them out, because no tool may silently replace another. The caller must
// hold mu.
func (c *Catalogue) build() *ToolView {
	v := &ToolView{tools: map[string]*Tool{}, Filtered: map[string]*Tool{}}
	taken := map[string][]*Tool{}
	around := listing.Members{Alone: len(c.upstreams) == 1}
	for _, u := range c.upstreams {
		for _, page := range c.lists[u].Pages {
			around.Add(u.Config.Name, page)
		}
		for _, t := range c.toolsOf(u, v) {
			taken[t.Exposed] = append(taken[t.Exposed], t)
			v.Order = append(v.Order, t)
		}
	}
	addNames(v.Order, c.Owners())
	c.markAgentNames(v)
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
	if v.Crowded = listing.CrowdWarning(len(kept)); v.Crowded != "" {
		v.Warnings = append(v.Warnings, v.Crowded)
	}
	for _, t := range v.Order {
		v.Calls = append(v.Calls, t.Call())
	}
	v.Around = around.Append(nil)
	v.encode(c.hiddenNames(v.Calls))
	return v
}

// toolsOf returns the server's tools that can be called. It adds filtered tools, problems and
// warnings to the view v.
func (c *Catalogue) toolsOf(u *Server, v *ToolView) (tools []*Tool) {
	var names []string
	list, listed := c.lists[u]
	for _, object := range list.Tools {
		read, problem := listing.Read(object, u.Config.ExposedPrefix(len(c.upstreams) == 1))
		if problem != "" {
			v.Problems = append(v.Problems, u.Config.Name+": "+problem)
			continue
		}
		t := &Tool{Tool: read, Upstream: u, Canonical: u.Config.Name + "." + read.Name}
		names = append(names, t.Name)
		if t.Why = u.Config.Tools.Filtered(t.Name); t.Why != "" {
			v.Filtered[t.Exposed] = t
			continue
		}
		if c.Pins != nil && c.quarantines(t, v) {
			continue
		}
		tools = append(tools, t)
	}
	if listed {
		for _, warning := range u.Config.Tools.Unmatched(names) {
			v.Warnings = append(v.Warnings, u.Config.Name+": "+warning)
		}
	}
	return tools
}

// quarantines reports whether the tool is withheld until a person accepts its definition. If the
// definition is not accepted, quarantines adds a problem to the view v or, if quarantine is not
// enforced, a warning.
func (c *Catalogue) quarantines(t *Tool, v *ToolView) bool {
	if t.Unaccepted = c.Pins.RejectionReason(t.SentDefinition()); t.Unaccepted == "" {
		return false
	}
	v.Changed = append(v.Changed, t)
	if !c.Pins.Enforce {
		v.Warnings = append(v.Warnings, t.Canonical+": "+t.Unaccepted)
		return false
	}
	v.Problems = append(v.Problems, t.Canonical+" is quarantined: "+t.Unaccepted)
	v.Filtered[t.Exposed] = t
	return true
}

// hiddenNames returns the tools that must not be listed, by the names that clients use.
func (c *Catalogue) hiddenNames(tools []gate.Call) map[string]bool {
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
	return "the name " + t.Exposed + " stands for " + strings.Join(names, " and ") + "; give one of the upstreams a different prefix"
}

// Owners returns all servers, each with the prefix of its tools.
func (c *Catalogue) Owners() toolname.Owners {
	var owners toolname.Owners
	for _, u := range c.upstreams {
		owners = append(owners, toolname.Owner{Upstream: u.Config.Name, Prefix: u.Config.ExposedPrefix(len(c.upstreams) == 1)})
	}
	return owners
}

// encode encodes the tools/list results for revision 2026-07-28 and for earlier revisions, without
// the hidden tools.
func (v *ToolView) encode(hidden map[string]bool) {
	list := AppendTools(nil, v.Order, hidden)
	v.elements = len(list)
	list = append(list, v.Around...)
	v.List = append(list[:len(list):len(list)], '}')
	v.List2026 = append(list[:len(list):len(list)], `,"resultType":"complete","ttlMs":0,"cacheScope":"private"}`...)
}

// AppendTools appends the beginning of a tools/list result, up to and including the array of tools.
// It omits the hidden tools.
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

// A Tool is a server's tool, or a prompt or resource treated as a tool.
type Tool struct {
	listing.Tool
	Upstream  *Server
	Canonical string // name in rules, of the form upstream.tool
	also      []gate.Name
	others    map[string]bool // tool names that contain a dot, which must not be confused with tool.action, a name formed from a call's argument
	foreign   bool            // whether the exposed name could also belong to a tool of another server or of an agent
	Why       string          // why the configuration filters out the tool; empty if it is not filtered

	Unaccepted string // why the definition is not accepted; empty if accepted
}

// WithheldReason returns the reason why clients cannot use the tool, as a refusal kind and as a
// sentence for the model.
func (t *Tool) WithheldReason() (kind, why string) {
	if t.Unaccepted != "" {
		return "quarantined", fmt.Sprintf("%s cannot be called: %s. A person must review that first; until then, calling it again will not help.", t.Exposed, t.Unaccepted)
	}
	return "withheld", fmt.Sprintf("%s cannot be called: the configuration does not offer this tool of the upstream %s (%s). Calling it again will not help.",
		t.Exposed, t.Upstream.Config.Name, t.Why)
}

// SentDefinition returns the tool's definition as sent by the server.
func (t *Tool) SentDefinition() toolpin.Definition {
	return toolpin.Read(t.Upstream.Config.Name, t.Name, t.Object)
}

// addNames sets the fields also, others and foreign of each tool. They depend on the names of all
// tools. also contains the tool's additional names, and others contains the names that must not be
// confused with tool.action. foreign reports whether the exposed name could belong to another
// server.
func addNames(tools []*Tool, owners toolname.Owners) {
	all := make([]toolname.Names, 0, len(tools))
	others := map[string]bool{}
	for _, t := range tools {
		all = append(all, toolname.Names{Upstream: t.Upstream.Config.Name, Exposed: t.Exposed, Bare: t.Name, Canonical: t.Canonical})
		others[t.Canonical] = true
		if strings.Contains(t.Name, ".") {
			others[t.Name] = true
		}
	}
	for i, names := range toolname.AdditionalNames(all, owners) {
		tools[i].also, tools[i].others, tools[i].foreign = names, others, owners.Foreign(all[i])
	}
}

// markAgentNames marks each name of the tool that also belongs to one of an agent's own tools, and
// reports whether any were marked. If a rule requires a call by a marked name, a call to this tool
// does not count.
func (t *Tool) markAgentNames(belongs func(name string) bool) (some bool) {
	if belongs(t.Exposed) {
		t.foreign, some = true, true
	}
	for i, name := range t.also {
		if belongs(name.Text) {
			t.also[i].Certain, t.also[i].Weak, some = false, true, true
		}
	}
	return some
}

// Call returns the gate's representation of a call to the tool, without arguments.
func (t *Tool) Call() gate.Call {
	return gate.Call{Tool: t.Exposed, Foreign: t.foreign, Also: t.also, Others: t.others, Upstream: t.Upstream.Config.Name, Annotations: t.Annotations}
}

// PromptTool returns a prompt as a tool for the gate, named prompt:upstream.name in rules.
func PromptTool(i Item) *Tool {
	read := listing.Tool{Name: i.Key, Exposed: "prompt " + text.Escape(i.Exposed)}
	return &Tool{Tool: read, Upstream: i.Upstream, Canonical: "prompt:" + i.Upstream.Config.Name + "." + i.Key}
}

// ResourceTool returns a resource as a tool for the gate. In rules, all resources of a server have
// the same name, resource:upstream.
func ResourceTool(u *Server, uri string) *Tool {
	read := listing.Tool{Name: uri, Exposed: "resource " + text.Escape(uri)}
	return &Tool{Tool: read, Upstream: u, Canonical: "resource:" + u.Config.Name}
}

// An Item is a prompt, resource or resource template of a server.
type Item struct {
	Upstream *Server
	Key      string // the server's own name or URI for the item
	Exposed  string // the name or URI used by clients
	Object   []byte // JSON object, as sent to clients
}
