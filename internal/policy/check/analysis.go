package check

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// An Effort limits the work of a verification. A result that would require more work is reported as
// unknown.
type Effort struct {
	States int                       // maximum number of states per search; 0 means [verify.DefaultStates]
	Time   time.Duration             // maximum duration of the verification
	Now    func() time.Time          // clock for Time; if nil, processor time is used, which keeps the result independent of the machine's load
	Report func(spent time.Duration) // called periodically with the time spent so far; may be nil

	// Narrower proves a claim that the policy admits no more than the policy in another file. If
	// Narrower is nil, such claims remain unproved.
	Narrower func(c policy.Claim, result *policy.Result, source policy.Source, stop func() bool) verify.Proof

	// Widened checks that a configuration only narrows its base policies. It reports each base
	// policy that might be widened. If Widened is nil, base policies are not compared.
	Widened func(ctx context.Context, c *config.Config, result *policy.Result) diag.List

	spent func() time.Duration // elapsed time of the verification, according to Now; nil until the clock is started
}

// begun returns a copy of e with its clock started, if e has a clock.
func (e Effort) begun() Effort {
	if e.Now != nil && e.spent == nil {
		e.spent = Clock(e.Now)
	}
	return e
}

// widened checks that the source's configuration only narrows its base policies. It reports each
// base policy that might be widened.
func (e Effort) widened(ctx context.Context, source policy.Source, result *policy.Result) diag.List {
	if source.Config == nil || e.Widened == nil {
		return nil
	}
	if e.spent != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.Time-e.spent())
		defer cancel()
	}
	return e.Widened(ctx, source.Config, result)
}

// Clock returns a function that returns the time since Clock was called.
func Clock(now func() time.Time) (spent func() time.Duration) {
	began := now()
	return func() time.Duration { return now().Sub(began) }
}

// WorkClock returns a function that returns the processor time spent since WorkClock was called.
// The calling goroutine must be locked to its operating system thread.
func WorkClock() (spent func() time.Duration) {
	began := workTime()
	return func() time.Duration { return workTime() - began }
}

// Limits for verifying a policy while a proxy starts. A client is waiting, so verifying a policy
// without claims should barely delay the start, even on a busy machine.
const (
	startTime        = 2 * time.Second
	startTimeNoClaim = 250 * time.Millisecond
	StartStates      = 1000
)

// AtStart returns the effort for verifying a policy before it is enforced, given its number of
// claims.
func AtStart(claims int) Effort {
	if claims == 0 {
		return Effort{States: StartStates, Time: startTimeNoClaim}
	}
	return Effort{Time: startTime}
}

// An Analysis holds the findings from analyzing a policy before any tool is called.
type Analysis struct {
	report *verify.Report
	names  []verify.Name // names listed by the nets, in order of first appearance, followed by the other known tools
	proofs []claimProof
	nets   netInfos
	policy *gate.Policy // the policy with only its active nets
	tools  ToolSet
	dead   map[string][]string // for each hand-written net, the transitions that never fire
	idle   []string            // inactive nets, which were not analyzed
	shadow bool                // whether the policy is in shadow mode; if so, it was analyzed as an enforced policy
	shell  config.Shell

	unlisted []string    // names of the tools that otherTools returned
	written  writtenNets // hand-written nets, with the lines of their transitions
	bases    []string    // files of the base policies that the configuration extends
	found    diag.List   // problems found while the policy was built, before the verification
	partly   []string    // hand-written nets with unexplored states
	effort   Effort
}

// netInfos holds the analyzed nets by name.
type netInfos map[string]gate.NetInfo

// writtenNets holds the hand-written nets.
type writtenNets []config.Net

// A claimProof holds a claim and the result of an attempt to prove it.
type claimProof struct {
	policy.Claim
	verify.Proof
}

// baseFiles returns the files of a configuration's base policies.
func baseFiles(c *config.Config) []string {
	if c == nil {
		return nil
	}
	return list.FlatMap(c.Bases, func(b config.Base) []string {
		return append([]string{b.File}, list.Map(b.Rules, func(text config.RuleText) string { return text.File })...)
	})
}

// Run verifies a policy with effort e. tools holds the known tools, each with all its names.
func Run(ctx context.Context, result *policy.Result, source policy.Source, tools ToolSet, e Effort) (*Analysis, error) {
	tools = tools.withAgents(result)
	v := &Analysis{nets: make(netInfos), tools: tools, written: source.Nets, found: result.Problems, dead: make(map[string][]string)}
	v.bases = baseFiles(source.Config)
	if source.Config != nil {
		v.shell = source.Config.Shell
	}
	if source.Mode == "shadow" {
		// Analyze the policy as it will behave once it is enforced.
		v.shadow = true
		source.Mode = ""
		enforced, err := policy.Build(source)
		if err != nil {
			return nil, err
		}
		result = enforced
	}
	p, err := v.active(result)
	if err != nil {
		return nil, err
	}
	v.policy, v.effort = p, e
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e = e.begun()
	o := e.options(ctx, source, tools)
	o.Prove = list.Map(result.Claims, Assertion)
	others := v.otherTools(p, tools)
	for _, tool := range others {
		v.unlisted = append(v.unlisted, tool.Name)
		o.Prove = append(o.Prove, verify.Reachable{Tool: tool})
	}
	v.report = verify.Policy(p, o)
	for _, n := range v.report.Names {
		n.Why = withLiveHint(n.Why, n.Supposed)
		v.names = append(v.names, n)
	}
	for i, found := range v.report.Proofs {
		if i >= len(result.Claims) {
			v.names = append(v.names, NameOf(others[i-len(result.Claims)], found))
			continue
		}
		c := result.Claims[i]
		if c.Kind == rules.NarrowerThan && e.Narrower != nil {
			found = e.Narrower(c, result, source, o.Stop)
		}
		if slices.Contains(v.idle, c.Net) {
			found = verify.Proof{Why: "the net is not active"}
		}
		found.Why = v.withToolsHint(found.Why, found.Supposed)
		v.proofs = append(v.proofs, claimProof{c, found})
	}
	return v, nil
}

// options returns the options for the verification. The time limit starts to run when options is
// called.
func (e *Effort) options(ctx context.Context, source policy.Source, tools ToolSet) verify.Options {
	spent := e.spent
	if spent == nil {
		spent = WorkClock()
	}
	o := verify.Options{
		Tools: tools.Tools, Known: tools.Known, States: e.States, Lacks: tools.Lacks(),
		Stop: func() bool {
			if e.Report != nil {
				e.Report(spent())
			}
			return ctx.Err() != nil || spent() > e.Time
		},
	}
	o.Conditions = list.FlatMap(source.Nets, func(n config.Net) []string {
		return list.Map(n.Validate, func(v config.Validator) string { return v.Require.Text })
	})
	return o
}

// active builds a policy from the active nets.
func (v *Analysis) active(result *policy.Result) (*gate.Policy, error) {
	var nets []gate.Net
	for i, n := range result.Policy.Nets() {
		v.nets[n.Name] = n
		if n.Labels == nil && i < len(result.Nets) {
			v.dead[n.Name] = result.Nets[i].DeadTransitions
			if result.Nets[i].States == nil {
				v.partly = append(v.partly, n.Name)
			}
		}
		if result.Active == nil || slices.Contains(result.Active, n.Name) {
			nets = append(nets, n.Net)
		} else {
			v.idle = append(v.idle, n.Name)
		}
	}
	if len(v.idle) == 0 {
		return result.Policy, nil
	}
	return gate.NewPolicy(nets, result.Policy.Options())
}

// otherTools returns the tools that no transition of an enforced net lists. Whether they can be
// called is verified separately.
func (v *Analysis) otherTools(p *gate.Policy, tools ToolSet) []gate.Tool {
	seen := make(map[string]bool)
	var free []gate.Tool
	for _, n := range p.Nets() {
		for _, t := range n.Transitions {
			for _, tool := range t.Tools {
				if n.Shadow {
					free = append(free, tool)
				} else {
					seen[ruleName(tool)] = true
				}
			}
		}
		free = append(free, gate.Tools(n.Free...)...)
		free = append(free, list.FlatMap(n.Phases, func(p gate.Phase) []gate.Tool { return p.Tools })...)
	}
	var others []gate.Tool
	for _, tool := range free {
		if !seen[ruleName(tool)] {
			seen[ruleName(tool)] = true
			others = append(others, gate.Tool{Name: tool.Name, Kind: tool.Kind})
		}
	}
	return append(others, gate.Tools(tools.namesExcept(seen)...)...)
}

// withLiveHint adds a hint to the reason for an unknown result. The hint suggests running
// "petrigate check --live", which finds out whether the tool exists. If the name of the tool is
// empty, withLiveHint returns the reason unchanged.
func withLiveHint(why, supposed string) string {
	if supposed == "" {
		return why
	}
	return why + "; run petrigate check --live to find out"
}

// withToolsHint is like [withLiveHint], but adds a different hint if a map statement assigns the
// tool's name to calls. In that case, a call can have the name even if no such tool exists.
func (v *Analysis) withToolsHint(why, supposed string) string {
	for _, m := range v.policy.Maps() {
		if supposed == m.As {
			return fmt.Sprintf("%s, apart from the calls that get this name from the map at %s; run petrigate check with --live or --tools FILE to find out", why, m.Rule)
		}
	}
	return withLiveHint(why, supposed)
}

// NameOf describes whether and how the tool can be called, according to a proof about calls to the
// tool.
func NameOf(tool gate.Tool, p verify.Proof) verify.Name {
	n := verify.Name{Tool: tool, Because: p.Because, Why: withLiveHint(p.Why, p.Supposed)}
	switch {
	case p.Result == verify.Proved:
		n.Callable, n.Shortest = verify.Possible, p.Witness
	case p.Result == verify.Refuted && len(p.Because) == 0 && p.Why != "":
		n.Callable = verify.AfterFailure
	case p.Result == verify.Refuted:
		n.Callable, n.Default = verify.Impossible, p.Default
	}
	return n
}
