package check

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// An Effort bounds the work of a verification. What does not fit is unknown.
type Effort struct {
	States int                       // of one search; 0: as many as usual
	Time   time.Duration             // after which the search ends
	Now    func() time.Time          // the clock by which it ends; nil: processor time, so that what is found does not depend on what else the machine does
	Report func(spent time.Duration) // called now and then; may be nil

	// Narrower proves that a policy admits no more than that of the file of the claim; nil:
	// nobody does.
	Narrower func(c policy.Claim, result *policy.Result, source policy.Source, stop func() bool) verify.Proof

	// Widened finds the bases of a configuration that it does not only narrow; nil: nobody does.
	Widened func(ctx context.Context, c *config.Config, result *policy.Result) diag.List

	spent func() time.Duration // by Now; nil: it has not begun
}

// begun is the effort from now on, where a clock bounds it.
func (e Effort) begun() Effort {
	if e.Now != nil && e.spent == nil {
		e.spent = Clock(e.Now)
	}
	return e
}

// widened finds the bases of the source that it does not only narrow.
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

// Clock tells how much time has passed by now since it was made.
func Clock(now func() time.Time) (spent func() time.Duration) {
	began := now()
	return func() time.Duration { return now().Sub(began) }
}

// WorkClock tells how much was worked since it was made. The caller keeps to its
// thread.
func WorkClock() (spent func() time.Duration) {
	began := workTime()
	return func() time.Duration { return workTime() - began }
}

// The efforts at the start of a proxy: a client waits for it, and a policy that
// claims nothing is hardly held up, even on a busy machine.
const (
	startTime        = 2 * time.Second
	startTimeNoClaim = 250 * time.Millisecond
	StartStates      = 1000
)

// AtStart returns the effort for a policy that is about to be enforced.
func AtStart(claims int) Effort {
	if claims == 0 {
		return Effort{States: StartStates, Time: startTimeNoClaim}
	}
	return Effort{Time: startTime}
}

// An Analysis holds what is known of a policy before anybody calls a tool.
type Analysis struct {
	report *verify.Report
	names  []verify.Name // as the nets list them, then the other tools that are known
	proofs []proven
	nets   map[string]gate.NetInfo
	policy *gate.Policy // of the nets that are active
	tools  ToolSet
	dead   map[string][]string // transitions of hand-written nets that never fire
	idle   []string            // nets that are not active, and so not looked at
	shadow bool                // the policy is in shadow: what is known is of the day when it is enforced
	shell  config.Shell

	unlisted []string     // known tools that no net speaks of by name
	written  []config.Net // with the lines of their transitions
	bases    []string     // files with what the configuration extends
	found    diag.List    // what the policy says of itself without a proof
	partly   []string     // hand-written nets whose states were not all looked at
	effort   Effort
}

// A proven is a claim with its result.
type proven struct {
	policy.Claim
	verify.Proof
}

// baseFiles are the files of the base policies of a configuration.
func baseFiles(c *config.Config) (files []string) {
	if c == nil {
		return nil
	}
	for _, b := range c.Bases {
		files = append(files, b.File)
		for _, text := range b.Rules {
			files = append(files, text.File)
		}
	}
	return files
}

// Run proves what can be proved of a policy within the effort. The
// tools tell it which names are of one tool.
func Run(ctx context.Context, result *policy.Result, source policy.Source, tools ToolSet, e Effort) (*Analysis, error) {
	tools = tools.withAgents(result)
	v := &Analysis{nets: make(map[string]gate.NetInfo), tools: tools, written: source.Nets, found: result.Problems, dead: make(map[string][]string)}
	v.bases = baseFiles(source.Config)
	if source.Config != nil {
		v.shell = source.Config.Shell
	}
	if source.Mode == "shadow" {
		// What is looked at is what the policy will be when it is enforced.
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
	for _, c := range result.Claims {
		o.Prove = append(o.Prove, Assertion(c))
	}
	others := v.others(p, tools)
	for _, tool := range others {
		v.unlisted = append(v.unlisted, tool.Name)
		o.Prove = append(o.Prove, verify.Reachable{Tool: tool})
	}
	v.report = verify.Policy(p, o)
	for _, n := range v.report.Names {
		n.Why = tellable(n.Why, n.Supposed)
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
		found.Why = v.tellable(found.Why, found.Supposed)
		v.proofs = append(v.proofs, proven{c, found})
	}
	return v, nil
}

// options returns what verify is to look at, and for how long. The work counts from here.
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
	for _, n := range source.Nets {
		for _, judge := range n.Validate {
			o.Conditions = append(o.Conditions, judge.Require.Text)
		}
	}
	return o
}

// active builds the policy of the active nets.
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

// others are free tools, those of allowlists by phase, those that only nets in shadow speak of, and the known ones that no net lists by name.
func (v *Analysis) others(p *gate.Policy, tools ToolSet) []gate.Tool {
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
		for _, name := range n.Free {
			free = append(free, gate.Tool{Name: name})
		}
		for _, ph := range n.Phases {
			free = append(free, ph.Tools...)
		}
	}
	var others []gate.Tool
	for _, tool := range free {
		if !seen[ruleName(tool)] {
			seen[ruleName(tool)] = true
			others = append(others, gate.Tool{Name: tool.Name, Kind: tool.Kind})
		}
	}
	for _, name := range tools.others(seen) {
		others = append(others, gate.Tool{Name: name})
	}
	return others
}

// tellable adds to a reason that depends on which tools exist how to find out.
func tellable(why, supposed string) string {
	if supposed == "" {
		return why
	}
	return why + ", which petrigate check --live can tell"
}

// tellable is the function tellable for a reader who did not name a tool: the name is one
// that a map gives to calls of others.
func (v *Analysis) tellable(why, supposed string) string {
	for _, m := range v.policy.Maps() {
		if supposed == m.As {
			return fmt.Sprintf("%s, beside the calls that the map at %s names so; petrigate check --live or --tools FILE can tell", why, m.Rule)
		}
	}
	return tellable(why, supposed)
}

// NameOf reads the claim that a name can be reached as what is known of it.
func NameOf(tool gate.Tool, p verify.Proof) verify.Name {
	n := verify.Name{Tool: tool, Because: p.Because, Why: tellable(p.Why, p.Supposed)}
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

// Lists reports whether a transition is about a tool of this name.
func Lists(t gate.Transition, name string) bool {
	return slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Name == name })
}

// listed returns the names that a net mentions, as written.
func listed(net gate.NetInfo) []string {
	var names []string
	for _, t := range net.Transitions {
		for _, tool := range t.Tools {
			names = append(names, ruleName(tool))
		}
	}
	names = append(names, net.Free...)
	for _, ph := range net.Phases {
		for _, tool := range ph.Tools {
			names = append(names, ruleName(tool))
		}
	}
	return names
}

// ruleName returns the name of a tool as rules write it: in quotes if it has a dot and is
// not an action.
func ruleName(t gate.Tool) string {
	if t.Kind == gate.Literal && strings.Contains(t.Name, ".") {
		return `"` + t.Name + `"`
	}
	return t.Name
}
