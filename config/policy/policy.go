package policy

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// Options are what a policy is made of besides its configuration. The zero value
// is ready to use.
type Options struct {
	Nets  []gate.Net // further ones, written in Go
	Tools []string   // every tool that there is; nil: they are not known

	// Schemas are JSON Schemas of the arguments of tools, by name: nothing is said to be
	// possible by an argument that a tool does not have. Of other tools nothing is known.
	Schemas map[string]json.RawMessage
}

// A Policy is a [gate.Policy] with what its configuration says besides. It is safe
// for concurrent use.
type Policy struct {
	*gate.Policy
	Active   []string  // the nets that sessions begin with; nil: all
	Warnings []Problem // in what the user wrote, which is in force all the same

	source  policy.Source
	options Options
	claims  []policy.Claim
	guide   *verify.RemedyFinder

	mu         sync.Mutex
	global     *gate.Shared
	principals map[string]*gate.Shared
}

// New makes the policy of a configuration. Where rules or nets are at fault the
// error is [Problems].
func New(c *config.Config, o Options) (*Policy, error) {
	source := policy.FromConfig(c)
	source.Tools, source.Schemas = o.Tools, parsed(o.Schemas)
	result, err := policy.Build(source)
	if err != nil {
		return nil, problems(result.Problems.Of(diag.Error))
	}
	p := &Policy{
		source: source, options: o, claims: result.Claims,
		Warnings: problems(result.Problems.Of(diag.Warning)), principals: make(map[string]*gate.Shared),
	}
	if p.Policy, err = p.with(result.Policy.Nets(), result.Policy.Options()); err != nil {
		return nil, err
	}
	if source.Active != nil {
		p.Active = []string{}
		for _, n := range p.Nets() {
			if n.Labels != nil || slices.Contains(source.Active, n.Name) || p.inGo(n.Name) {
				p.Active = append(p.Active, n.Name)
			}
		}
	}
	p.guide = verify.NewRemedyFinder(p.Policy, verify.Options{Tools: p.tools(), Lacks: p.lacks()})
	return p, nil
}

// with is the policy of these nets and of those in Go.
func (p *Policy) with(infos []gate.NetInfo, o gate.PolicyOptions) (*gate.Policy, error) {
	var nets []gate.Net
	for _, info := range infos {
		nets = append(nets, info.Net)
	}
	return gate.NewPolicy(append(nets, p.options.Nets...), o)
}

// inGo reports whether the net is one of [Options].Nets.
func (p *Policy) inGo(name string) bool {
	return slices.ContainsFunc(p.options.Nets, func(n gate.Net) bool { return n.Name == name })
}

// tools are those that are known, as they are for proofs.
func (p *Policy) tools() []verify.Tool {
	var tools []verify.Tool
	for _, name := range p.options.Tools {
		tools = append(tools, verify.Tool{Name: name})
	}
	return tools
}

// parsed are the schemas that were read.
func parsed(schemas map[string]json.RawMessage) map[string][]policy.Schema {
	out := make(map[string][]policy.Schema)
	for tool, schema := range schemas {
		out[tool] = []policy.Schema{policy.ParseSchema(schema)}
	}
	return out
}

// lacks tells which argument that a field reads a tool does not take.
func (p *Policy) lacks() func(tool string, f gate.Field) string {
	return check.ToolSet{Schemas: p.source.Schemas}.Lacks()
}

// NewSession makes a session of a principal, with the nets of the configuration
// that are active. What o leaves out is shared: nets with the scope global by all
// sessions of the policy, nets with the scope principal by all sessions of the
// same one. A session of the principal "" shares these with nobody.
func (p *Policy) NewSession(principal string, o gate.SessionOptions) *gate.Session {
	if o.Active == nil {
		o.Active = p.Active
	}
	shared := gate.SharedOptions{Active: p.Active, Time: o.Time}
	p.mu.Lock()
	if p.global == nil {
		p.global = gate.NewShared(p.Policy, gate.ScopeGlobal, shared)
	}
	if o.Global == nil {
		o.Global = p.global
	}
	if o.Principal == nil && principal != "" {
		if p.principals[principal] == nil {
			p.principals[principal] = gate.NewShared(p.Policy, gate.ScopePrincipal, shared)
		}
		o.Principal = p.principals[principal]
	}
	p.mu.Unlock()
	return gate.NewSession(p.Policy, o)
}

// A Problem is something wrong in rules or nets.
type Problem struct {
	Code rules.Code // docs/codes.md explains each
	Pos  gate.Position
	Net  string // of a hand-written one; may be empty
	Msg  string
	Hint string // what to write instead; may be empty
	text string
}

// Error is the problem on one line: file:line:column: message (hint).
func (p Problem) Error() string { return p.text }

// Problems are what keeps a policy from being made.
type Problems []Problem

// Error returns one line for each problem.
func (ps Problems) Error() string { return diag.Lines(ps) }

// Unwrap returns the single problems, for errors.As.
func (ps Problems) Unwrap() []error { return diag.Errors(ps) }

func problems(found diag.List) Problems {
	var out Problems
	for _, p := range found {
		out = append(out, Problem{
			Code: rules.Code(p.Code), Pos: gate.Position(p.Position()), Net: p.Net,
			Msg: p.Msg, Hint: p.Hint, text: p.Error(),
		})
	}
	return out
}
