package policy

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// Options extend the policy of a configuration. The zero value is ready to use.
type Options struct {
	Nets  []gate.Net // additional nets, written in Go
	Tools []string   // all tools that exist; nil if unknown

	// Schemas holds the JSON Schemas of tools' arguments, keyed by tool name. A call counts as
	// possible only if its tool accepts all of its arguments. A tool without a schema accepts all
	// arguments.
	Schemas map[string]json.RawMessage
}

// A Policy is a [gate.Policy] together with everything else that its configuration contains. It is
// safe for concurrent use.
type Policy struct {
	*gate.Policy
	Active   []string  // nets active at the start of a session; nil means all
	Warnings []Problem // warnings about the configuration; they do not prevent its use

	source  policy.Source
	options Options
	claims  []policy.Claim
	guide   *verify.RemedyFinder

	mu         sync.Mutex
	global     *gate.Shared
	principals map[string]*gate.Shared
}

// New builds the policy of a configuration. If rules or nets are invalid, the error is a
// [Problems].
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
	if p.Policy, err = p.withNets(result.Policy.Nets(), result.Policy.Options()); err != nil {
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

// withNets builds a policy that consists of the given nets and those in [Options].Nets.
func (p *Policy) withNets(infos []gate.NetInfo, o gate.PolicyOptions) (*gate.Policy, error) {
	nets := list.Map(infos, func(info gate.NetInfo) gate.Net { return info.Net })
	return gate.NewPolicy(append(nets, p.options.Nets...), o)
}

// inGo reports whether the net with the given name is one of [Options].Nets.
func (p *Policy) inGo(name string) bool {
	return slices.ContainsFunc(p.options.Nets, func(n gate.Net) bool { return n.Name == name })
}

// tools returns the known tools in the form used by package verify.
func (p *Policy) tools() []verify.Tool {
	return list.Map(p.options.Tools, func(name string) verify.Tool { return verify.Tool{Name: name} })
}

// parsed returns the parsed JSON Schema of each tool.
func parsed(schemas map[string]json.RawMessage) map[string][]policy.Schema {
	out := make(map[string][]policy.Schema)
	for tool, schema := range schemas {
		out[tool] = []policy.Schema{policy.ParseSchema(schema)}
	}
	return out
}

// lacks returns a function that finds an argument that is read by a field but missing from the
// tool's schema. If no schemas are known, lacks returns nil; see [verify.Options.Lacks].
func (p *Policy) lacks() func(tool string, f gate.Field) string {
	return check.ToolSet{Schemas: p.source.Schemas}.Lacks()
}

// NewSession returns a session for a principal. If o.Active is nil, the configuration's active nets
// are active. If o.Global is nil, the session uses the policy's shared state for nets with global
// scope. If o.Principal is nil, the session uses the principal's shared state for nets with
// principal scope. If principal is empty, too, the session does not share that state.
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

// A Problem is an error or a warning about rules or nets.
type Problem struct {
	Code rules.Code // code of the problem; see docs/codes.md
	Pos  gate.Position
	Net  string // name of the configuration's net that has the problem; may be empty
	Msg  string
	Hint string // suggested correction; may be empty
	text string
}

// Error returns the problem on a single line: file:line:column: message (hint).
func (p Problem) Error() string { return p.text }

// Problems holds the errors or the warnings about a policy. If it is returned as an error, the
// policy could not be built.
type Problems []Problem

// Error returns the problems, one per line.
func (ps Problems) Error() string { return diag.Lines(ps) }

// Unwrap returns the individual problems, for errors.As.
func (ps Problems) Unwrap() []error { return diag.Errors(ps) }

func problems(found diag.List) Problems {
	return list.Map(found, func(p diag.Problem) Problem {
		return Problem{
			Code: rules.Code(p.Code), Pos: gate.Position(p.Position()), Net: p.Net,
			Msg: p.Msg, Hint: p.Hint, text: p.Error(),
		}
	})
}
