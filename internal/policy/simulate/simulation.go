package simulate

import (
	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A Simulation plays made-up calls in a session under a policy.
type Simulation struct {
	source  policy.Source
	result  *policy.Result
	box     *sandbox.Sandbox
	session *sandbox.Session
	call    func(tool string) gate.Call
	guide   *verify.RemedyFinder
	tools   check.ToolSet // available tools, if known
	readAs  []Call        // calls whose unqualified name was resolved to an agent's built-in tool
}

// New builds the policy from source and starts a session.
func New(source policy.Source) (*Simulation, error) {
	result, err := policy.Build(source)
	if err != nil {
		return nil, err
	}
	s := &Simulation{source: source, result: result, call: check.CallsUnder(source.Config), guide: verify.NewRemedyFinder(result.Policy, verify.Options{})}
	s.restart()
	return s, nil
}

// Config returns the policy's configuration, or nil if the policy consists only of rules and nets.
func (s *Simulation) Config() *config.Config { return s.source.Config }

// restart starts a new session.
func (s *Simulation) restart() {
	s.box = sandbox.New(s.result.Policy, s.result.Active)
	s.session = s.box.Session("")
	if s.tools.Known {
		s.offer()
	}
}

// names returns the names that the policy mentions.
func (s *Simulation) names() []string { return check.NamesIn(s.result) }

// net returns the policy's net with the given name.
func (s *Simulation) net(name string) gate.NetInfo {
	if n := list.Find(s.result.Policy.Nets(), func(n gate.NetInfo) bool { return n.Name == name }); n != nil {
		return *n
	}
	return gate.NetInfo{}
}

// Learn sets the available tools.
func (s *Simulation) Learn(tools check.ToolSet) {
	s.tools = tools
	if !s.tools.Known {
		return
	}
	s.guide = verify.NewRemedyFinder(s.result.Policy, verify.Options{Tools: s.tools.Tools, Lacks: s.tools.Lacks()})
	guess := s.call
	s.call = func(tool string) gate.Call {
		call := guess(tool)
		if known, ok := s.tools.Find(tool); ok {
			call.Tool, call.Foreign, call.Also = known.Name, guess(known.Name).Foreign, known.Also
		}
		return call
	}
	s.offer()
}

// offer tells the session which tools exist. Advisory nets need to know this, because they have no
// effect as long as they would leave no tool to call; see [gate.Net].Advisory.
func (s *Simulation) offer() {
	calls := []gate.Call{}
	for _, t := range s.tools.Tools {
		if !t.Supposed {
			calls = append(calls, s.call(t.Name))
		}
	}
	s.session.Offer(calls)
}

// isUnknown reports whether all tools are known and none of them has the given name. It returns
// false for a name qualified with an agent's name, because the lists of agents' tools are
// incomplete.
func (s *Simulation) isUnknown(tool string) bool {
	_, ok := s.tools.Find(tool)
	return s.tools.Known && !ok && !check.OfAgent(tool, s.source.Config)
}
