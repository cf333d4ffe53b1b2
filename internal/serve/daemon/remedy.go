package daemon

import (
	"encoding/json"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/proxy"
)

// A remedyFinder finds the way out of refusals, by the tools that are there.
type remedyFinder struct {
	policy *gate.Policy
	tools  func() toolset  // now
	met    func() []string // agents whose hooks have reported calls
	apart  bool            // calls reported by hooks run in separate sessions

	mu     sync.Mutex
	agents []gate.Call // tools of agents
	cached [scopes]cachedFinder
}

// A toolScope is from where the calls of a way out may be made.
type toolScope int

const (
	serverTools   toolScope = iota // tools of servers alone
	callerAndServerTools                // known tools of the agent whose call is refused, and tools of servers
	callerTools                // known tools of the agent whose call is refused
	activeAgentTools                // tools of servers, and of the agents that have reported calls
	allAgentTools             // tools of servers, and of all agents that are known
	scopes
)

// toolset are the tools that can be called at one time, as a proxy knows them.
type toolset interface {
	Names() []gate.Call

	// Definition returns a hash of what the server says of a tool; empty: there is no such tool.
	Definition(tool string) string

	// Schema returns that of the arguments of a tool; nil: the server gives none.
	Schema(tool string) json.RawMessage
}

// A cachedFinder finds ways out with the tools that it knows.
type cachedFinder struct {
	known       []gate.Call
	definitions []string             // of these, as hashes
	finder      *verify.RemedyFinder // nil: none was needed yet
}

// remedy is what a client is told with a refusal.
func (f *remedyFinder) remedy(s *gate.State, c gate.Call, r *gate.Refusal) proxy.Remedy {
	tools := f.tools()
	names := tools.Names()
	var found verify.Remedy
	if slices.ContainsFunc(names, func(n gate.Call) bool { return n.Tool == c.Tool }) {
		var known bool
		if found, known = f.findAny(s, c, r); !known {
			return proxy.Remedy{Text: verify.OwnToolMay}
		}
	} else if found = f.forAgent(s, c, r); found.None {
		return proxy.Remedy{} // the other tools of its agent are not known
	}
	told := proxy.Remedy{Text: found.Sentence(c.Tool), Steps: found.Calls(), None: found.None}
	if found.None && !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Cause != gate.CauseBlock }) {
		told.Text = "" // "cannot be called" says it
	}
	return told
}

// findAny finds the way out by tools of servers, or else by built-in tools of agents. It reports
// false where only the latter could help, and no agent that has them has reported a call.
func (f *remedyFinder) findAny(s *gate.State, c gate.Call, r *gate.Refusal) (found verify.Remedy, known bool) {
	tools := f.tools()
	names := tools.Names()
	found = f.finderFor(serverTools, tools, names).Remedy(s, c, r)
	switch {
	case !found.None, !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Cause != gate.CauseBlock }):
		return found, true
	case f.apart && !found.Shared: // no call of theirs counts in this session
		return found, true
	}
	if agents := f.met(); len(agents) > 0 && !f.apart {
		if found = f.finderFor(activeAgentTools, tools, withAgents(names, agents...)).Remedy(s, c, r); !found.None {
			return found, true
		}
	}
	found = f.finderFor(allAgentTools, tools, withAgents(names)).Remedy(s, c, r)
	return found, found.None
}

// withAgents returns the tools with those of agents; without agents, with those of all that are known.
func withAgents(tools []gate.Call, agents ...string) []gate.Call {
	tools = slices.Clip(tools)
	for _, t := range check.ToolsOf(agents...) {
		tools = append(tools, gate.Call{Tool: t.Name, Also: t.Also})
	}
	return tools
}

// forAgent finds the way out for an agent's call of a tool of its own. Where its session is apart,
// a call of a server's tool counts only for nets that sessions share.
func (f *remedyFinder) forAgent(s *gate.State, c gate.Call, r *gate.Refusal) (found verify.Remedy) {
	tools, own := f.tools(), f.refusedAgentTools(c)
	if f.apart {
		if found = f.finderFor(callerTools, tools, own).Remedy(s, c, r); !found.None || !found.Shared {
			return found
		}
	}
	return f.finderFor(callerAndServerTools, tools, append(slices.Clip(tools.Names()), own...)).Remedy(s, c, r)
}

// maxAgentTools bounds how many tools of agents are known.
const maxAgentTools = 100

// refusedAgentTools returns the tools of agents whose calls, reported by hooks, were refused, with that of c.
func (f *remedyFinder) refusedAgentTools(c gate.Call) []gate.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := func(n gate.Call) bool { return n.Tool == c.Tool && slices.Equal(n.Also, c.Also) }
	if len(f.agents) < maxAgentTools && !slices.ContainsFunc(f.agents, known) {
		f.agents = append(f.agents, gate.Call{Tool: c.Tool, Also: c.Also, Foreign: c.Foreign, Upstream: c.Upstream})
	}
	return slices.Clone(f.agents)
}

// finderFor is the guide for the tools of a seat. It is made anew where they have changed.
func (f *remedyFinder) finderFor(from toolScope, tools toolset, names []gate.Call) *verify.RemedyFinder {
	same := func(a, b gate.Call) bool { return a.Tool == b.Tool && slices.Equal(a.Also, b.Also) }
	definitions := make([]string, len(names))
	for i, n := range names {
		definitions[i] = tools.Definition(n.Tool)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	g := &f.cached[from]
	if g.finder == nil || !slices.EqualFunc(names, g.known, same) || !slices.Equal(definitions, g.definitions) {
		g.known, g.definitions = names, definitions
		g.finder = verify.NewRemedyFinder(f.policy, verify.Options{Tools: toolsOf(names), Lacks: lacks(tools, names)})
	}
	return g.finder
}

// lacks tells which argument that a field reads a tool does not take, by its schema; nil if
// no schemas are known.
func lacks(tools toolset, names []gate.Call) func(tool string, field gate.Field) string {
	known := check.ToolSet{Schemas: make(map[string][]policy.Schema)}
	for _, n := range names {
		if schema := tools.Schema(n.Tool); len(schema) > 0 {
			known.Schemas[n.Tool] = []policy.Schema{policy.ParseSchema(schema)}
		}
	}
	return known.Lacks()
}

// toolsOf are tools as [verify] knows them.
func toolsOf(names []gate.Call) []verify.Tool {
	tools := make([]verify.Tool, len(names))
	for i, n := range names {
		tools[i] = verify.Tool{Name: n.Tool, Also: n.Also}
	}
	return tools
}

// impossibleTime bounds the work of looking for tools that can never be called.
// Who asks for the list of tools waits for it; what is not proved by then is listed.
const impossibleTime = 250 * time.Millisecond

// impossible finds the tools of which it is proved that they can never be called under a
// policy. One that could be called after a failure is not among them.
func impossible(whole *gate.Policy) func([]gate.Call, []string) []string {
	return func(tools []gate.Call, active []string) []string {
		p, err := activeNets(whole, active)
		if err != nil || p.Shadow() {
			return nil // all can be called, or nothing is known
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		spent := check.WorkClock()
		o := verify.Options{
			Tools: toolsOf(tools), Known: true, States: check.StartStates,
			Stop: func() bool { return spent() > impossibleTime },
		}
		for _, c := range tools {
			o.Prove = append(o.Prove, verify.Reachable{Tool: gate.Tool{Name: c.Tool}})
		}
		var dead []string
		for i, found := range verify.Policy(p, o).Proofs {
			if check.NameOf(gate.Tool{Name: tools[i].Tool}, found).Callable == verify.Impossible {
				dead = append(dead, tools[i].Tool)
			}
		}
		return dead
	}
}

// activeNets is the policy of the nets of these names, of all if active is nil.
func activeNets(p *gate.Policy, active []string) (*gate.Policy, error) {
	if active == nil {
		return p, nil
	}
	var nets []gate.Net
	for _, n := range p.Nets() {
		if slices.Contains(active, n.Name) {
			nets = append(nets, n.Net)
		}
	}
	return gate.NewPolicy(nets, p.Options())
}
