package daemon

import (
	"encoding/json"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/proxy"
)

// A remedyFinder finds the calls that must succeed before the policy would allow a refused call. It
// considers the tools that servers currently offer and the built-in tools of known agents. It is
// safe for concurrent use.
type remedyFinder struct {
	policy *gate.Policy
	tools  func() toolset  // returns the tools that servers currently offer
	met    func() []string // returns the names of the agents that have reported calls through hooks
	apart  bool            // whether calls that agents report through hooks and calls over MCP belong to different sessions

	mu     sync.Mutex
	agents []gate.Call // agents' built-in tools whose calls have been refused so far
	cached [scopes]cachedFinder
}

// remedies returns a new [remedyFinder] for the policy p, with the tools of this proxy.
func (d *Daemon) remedies(p *gate.Policy) *remedyFinder {
	by := d.config.Session.By
	return &remedyFinder{
		policy: p,
		tools:  func() toolset { return d.Offered() }, // d.Proxy is set later, by New
		met:    func() []string { return d.Hooks.Agents() },
		apart:  by == "" || by == "connection",
	}
}

// A toolScope selects the tools to consider in the search for a remedy.
type toolScope int

const (
	serverTools          toolScope = iota // only server tools
	callerAndServerTools                  // server tools, and the known tools of the agent that made the refused call
	callerTools                           // only the known tools of the agent that made the refused call
	activeAgentTools                      // server tools, and the tools of the agents that have reported calls
	allAgentTools                         // server tools, and the tools of all known agents
	scopes
)

// A toolset contains the tools that are available at a certain time.
type toolset interface {
	Names() []gate.Call

	// Definition returns a hash of the tool's definition, or "" if the tool is unknown.
	Definition(tool string) string

	// Schema returns the tool's input schema, or nil if the server provides none.
	Schema(tool string) json.RawMessage
}

// A cachedFinder is a [verify.RemedyFinder] for certain tools. It is replaced when these tools
// change.
type cachedFinder struct {
	known       []gate.Call
	definitions []string             // hash of the definition of each tool in known
	finder      *verify.RemedyFinder // nil until it is created
}

// remedy returns the advice to send to the client when the call c is refused, for example the calls
// that must succeed first.
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
		return proxy.Remedy{} // give no advice, because the agent may have tools unknown to petrigate that could make the call possible
	}
	told := proxy.Remedy{Text: found.Sentence(c.Tool), Steps: found.Calls(), None: found.None}
	if found.None && !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Cause != gate.CauseBlock }) {
		told.Text = "" // if only block rules refuse the call, the refusal already implies that no other call helps
	}
	return told
}

// findAny looks for a remedy among the server tools, and then among agents' built-in tools. The
// second result is false if the remedy uses a built-in tool that may be unavailable. This is the
// case if the tool's agent has reported no calls, or if its calls belong to a different session.
func (f *remedyFinder) findAny(s *gate.State, c gate.Call, r *gate.Refusal) (found verify.Remedy, known bool) {
	tools := f.tools()
	names := tools.Names()
	found = f.finderFor(serverTools, tools, names).Remedy(s, c, r)
	switch {
	case !found.None, !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Cause != gate.CauseBlock }):
		return found, true
	case f.apart && !found.Shared: // calls by agents have no effect on this session
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

// withAgents returns tools followed by the built-in tools of the given agents. If no agents are
// given, it adds the tools of all known agents.
func withAgents(tools []gate.Call, agents ...string) []gate.Call {
	own := list.Map(check.ToolsOf(agents...), func(t verify.Tool) gate.Call { return gate.Call{Tool: t.Name, Also: t.Also} })
	return slices.Concat(tools, own)
}

// forAgent looks for a remedy for c, a refused call to a built-in tool of an agent. If the agent
// has its own session, calls to server tools can affect only the nets that sessions share.
func (f *remedyFinder) forAgent(s *gate.State, c gate.Call, r *gate.Refusal) (found verify.Remedy) {
	tools, own := f.tools(), f.refusedAgentTools(c)
	if f.apart {
		if found = f.finderFor(callerTools, tools, own).Remedy(s, c, r); !found.None || !found.Shared {
			return found
		}
	}
	return f.finderFor(callerAndServerTools, tools, append(slices.Clip(tools.Names()), own...)).Remedy(s, c, r)
}

// maxAgentTools is the maximum number of agent tools to remember.
const maxAgentTools = 100

// refusedAgentTools returns the agent tools whose calls have been refused so far, including the
// tool called by c.
func (f *remedyFinder) refusedAgentTools(c gate.Call) []gate.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := func(n gate.Call) bool { return n.Tool == c.Tool && slices.Equal(n.Also, c.Also) }
	if len(f.agents) < maxAgentTools && !slices.ContainsFunc(f.agents, known) {
		f.agents = append(f.agents, gate.Call{Tool: c.Tool, Also: c.Also, Foreign: c.Foreign, Upstream: c.Upstream})
	}
	return slices.Clone(f.agents)
}

// finderFor returns a finder that considers the given tools. It caches one finder for each
// [toolScope], and replaces it only if the tools have changed.
func (f *remedyFinder) finderFor(from toolScope, tools toolset, names []gate.Call) *verify.RemedyFinder {
	same := func(a, b gate.Call) bool { return a.Tool == b.Tool && slices.Equal(a.Also, b.Also) }
	definitions := list.Map(names, func(n gate.Call) string { return tools.Definition(n.Tool) })
	f.mu.Lock()
	defer f.mu.Unlock()
	g := &f.cached[from]
	if g.finder == nil || !slices.EqualFunc(names, g.known, same) || !slices.Equal(definitions, g.definitions) {
		g.known, g.definitions = names, definitions
		g.finder = verify.NewRemedyFinder(f.policy, verify.Options{Tools: toolsOf(names), Lacks: lacks(tools, names)})
	}
	return g.finder
}

// lacks returns a function that checks a field that the policy reads, such as args.path. If the
// field needs an argument that the tool's input schema does not list, the function returns that
// argument; otherwise, it returns "". If no schemas are known, lacks returns nil.
func lacks(tools toolset, names []gate.Call) func(tool string, field gate.Field) string {
	known := check.ToolSet{Schemas: make(map[string][]policy.Schema)}
	for _, n := range names {
		if schema := tools.Schema(n.Tool); len(schema) > 0 {
			known.Schemas[n.Tool] = []policy.Schema{policy.ParseSchema(schema)}
		}
	}
	return known.Lacks()
}

// toolsOf converts tools to the type that package verify uses.
func toolsOf(names []gate.Call) []verify.Tool {
	return list.Map(names, func(n gate.Call) verify.Tool { return verify.Tool{Name: n.Tool, Also: n.Also} })
}

// impossibleTime limits the search for tools that can never be called. It is short because the
// response to tools/list waits for the search. If nothing has been proved about a tool by then, the
// tool is listed.
const impossibleTime = 250 * time.Millisecond

// impossibleTools returns a function that takes tools and the names of the active nets, and returns
// the tools that provably can never be called under the policy.
func impossibleTools(whole *gate.Policy) func([]gate.Call, []string) []string {
	return func(tools []gate.Call, active []string) []string {
		p, err := activeNets(whole, active)
		if err != nil || p.Shadow() {
			return nil // in shadow mode, every tool can be called
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		spent := check.WorkClock()
		o := verify.Options{
			Tools: toolsOf(tools), Known: true, States: check.StartStates,
			Stop: func() bool { return spent() > impossibleTime },
			Prove: list.Map(tools, func(c gate.Call) verify.Assertion {
				return verify.Reachable{Tool: gate.Tool{Name: c.Tool}}
			}),
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

// activeNets returns the policy restricted to the named nets. If active is nil, it returns the
// whole policy.
func activeNets(p *gate.Policy, active []string) (*gate.Policy, error) {
	if active == nil {
		return p, nil
	}
	nets := list.Filter(p.Nets(), func(n gate.NetInfo) bool { return slices.Contains(active, n.Name) })
	return gate.NewPolicy(list.Map(nets, func(n gate.NetInfo) gate.Net { return n.Net }), p.Options())
}
