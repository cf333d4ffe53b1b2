package verify_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// A trial is one random policy.
type trial struct {
	t       *testing.T
	seed    uint64
	rules   string
	calls   []gate.Call        // calls with all names that might be distinguished, and some others
	known   bool               // no tool is named like a label or an action
	keyed   bool               // nets have keys; see [trial.playKeyed]
	judged  bool               // validators may refuse calls; a call counts as possible if they admit it
	sampled bool               // there are further calls, so the lack of a run proves nothing
	more    []verify.Assertion // further claims
	lossy   bool               // count names that a failure makes unavailable but that are not reported
	two     bool               // values have two parts, and brute tries only few pairs
	alone   bool               // only rules: the calls do not distinguish what random nets read
	nets    []gate.Net
	add     []gate.Net      // nets that are always included
	change  func(*gate.Net) // adds features to a random net; may be nil
	policy  *gate.Policy
	o       verify.Options
	report  *verify.Report

	left    []string // forms of arguments that are omitted; see [trial.leaveOut]
	partial bool     // verify does not know that some calls are possible, so brute may find shorter runs
	brute   *brute
	single  *brute            // for keyed nets: brute with the calls of a single value
	fields  map[string]string // for keyed nets: field that keys read, by tool; nil means f for all tools
	stats   map[string]int    // number of results checked
}

// TestRandomPolicies compares verify with the gate for random policies. By default, there are only
// a few. PETRIGATE_SOAK sets their number, and PETRIGATE_SEED the first seed.
func TestRandomPolicies(t *testing.T) { try(t, newTrial, 80) }

// TestRandomScripts is like TestRandomPolicies, but for rules about scripts.
func TestRandomScripts(t *testing.T) { try(t, newScriptTrial, 3) }

// TestRandomCounters is like TestRandomPolicies, but for high limits. brute never exhausts them,
// but the runs that verify finds do.
func TestRandomCounters(t *testing.T) { try(t, newCounterTrial, 15) }

func newCounterTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 6)), large: true}
	src, known := g.featureRules(), toolsKnown(seed)
	return g.trial(&trial{t: t, seed: seed, rules: src, known: known, calls: featureCalls(src, known), alone: true})
}

// newTrial returns a random policy with nets and with those rules that PetriFlow has.
func newTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), small: small(seed)}
	src := g.rules()
	calls, known := g.plainCalls(src, seed)
	return g.trial(&trial{t: t, seed: seed, rules: src, known: known, calls: calls})
}

// toolsKnown declares for half of the policies that no tool is named like a label or an action.
func toolsKnown(seed uint64) bool { return rand.New(rand.NewPCG(seed, 9)).IntN(2) == 0 }

func (g *generator) trial(tr *trial) *trial {
	f, _ := rules.Parse("policy.rules", []byte(tr.rules))
	compiled, err := rules.Compile(f)
	if err != nil {
		return nil
	}
	tr.nets = compiled.Nets
	tr.nets = append(tr.nets, tr.add...)
	most := 3
	if g.small {
		most = 2
	}
	for i := range g.IntN(most) {
		if g.IntN(2) == 0 && !tr.alone {
			n := g.net(i)
			n.Terminal = terminalPlaces(tr.seed, n.Places)
			if tr.change != nil {
				tr.change(&n)
			}
			tr.nets = append(tr.nets, n)
		}
	}
	tr.o.States, tr.o.Known = 20000, tr.known
	if tr.seed%2 == 0 {
		tr.o.LimitGroups(1) // makes searches explore few nets at a time
	}
	if tr.policy, err = gate.NewPolicy(tr.nets, gate.PolicyOptions{Labels: []*gate.Labels{compiled.Labels}, Deny: g.IntN(6) == 0}); err != nil {
		return nil
	}
	a, b, count := g.claimed(tr), g.claimed(tr), 1+g.IntN(3)
	if g.large {
		count = g.count()
	}
	tr.o.Prove = g.claims(tr, a, b, count)
	tr.report = verify.Policy(tr.policy, tr.o)
	tr.partial = tr.sampled || !tr.known
	if !tr.partial {
		_, why := verify.Calls(tr.policy, tr.o)
		tr.partial = why != ""
	}
	tr.brute = newBrute(tr.policy)
	tr.brute.sampled = tr.sampled
	if tr.keyed {
		tr.playKeyed(g, a, b)
		return tr
	}
	tr.enumerate(a, b)
	tr.brute.explore(a, b)
	return tr
}

type generator struct {
	*rand.Rand
	large  bool     // many places are counters
	small  bool     // few rules, tools and claims
	spoils bool     // observers spoil
	names  []string // names that claims use; nil means the usual ones
}

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *generator) name() string {
	if g.small {
		return g.pick("a", "b", "a", "b", "c", "m", "a", "b", "a.go", "*", "a*")
	}
	return g.pick("a", "b", "c", "a", "b", "c", "a", "b", "m", "n", "a.go", "a.stop", "b.go", `"a.go"`, "*", "a*", "*b", "?", "*.go", "a.*")
}

func (g *generator) asserted(rules string) gate.Tool {
	if g.names != nil {
		return gate.Tool{Name: g.pick(g.names...)}
	}
	name := g.pick("a", "b", "c", "a", "b", "m", "a.go")
	if name == "a.go" && !strings.Contains(rules, " a.go") {
		name = "a" // the gate ignores actions that no rule names
	}
	return gate.Tool{Name: name}
}

// carried reports whether a call with the given names has the claimed name. If evidence is true,
// the name must count as evidence.
func carried(c gate.Call, names []gate.Name, t gate.Tool, evidence bool) bool {
	return slices.ContainsFunc(names, func(n gate.Name) bool {
		switch {
		case evidence && n.Weak:
			return false
		case !strings.Contains(t.Name, "**"):
			return n.Text == t.Name
		case strings.ContainsAny(n.Text, "*?"), n.Text != c.Tool && strings.HasPrefix(n.Text, c.Tool+"."):
			return false // a pattern of a rule, or an action
		}
		yes, err := path.Match(strings.ReplaceAll(t.Name, "**", "*"), n.Text)
		return err == nil && yes
	})
}

func (g *generator) rules() string {
	var out []string
	if g.IntN(2) == 0 {
		out = append(out, fmt.Sprintf("map %s.f %s as %s", g.pick("a", "b"), g.pick("x", "y"), g.pick("m", "n")))
	}
	if !g.small && g.IntN(4) == 0 {
		out = append(out, fmt.Sprintf("map %s.f %s as %s", g.pick("a", "b"), g.pick("x", "y", "/[xy]/"), g.pick("m", "n")))
	}
	if !g.small && g.IntN(6) == 0 { // more maps of the same field than are enumerated in advance
		for i := range 6 {
			out = append(out, fmt.Sprintf("map %s.f word%d as o%d", g.pick("a", "b"), i, 2+i))
		}
	}
	most := 5
	if g.small {
		most = 4
	}
	for range g.IntN(most) {
		switch g.IntN(8) {
		case 0, 1, 2:
			out = append(out, fmt.Sprintf("require %s before %s", g.name(), g.name()))
		case 3, 4:
			out = append(out, fmt.Sprintf("limit %s to %d per session", g.name(), g.count()))
		case 5:
			out = append(out, fmt.Sprintf("limit %s to %d per %s", g.name(), g.count(), g.name()))
		case 6:
			out = append(out, fmt.Sprintf("require human-approval before %s", g.name()))
		default:
			out = append(out, fmt.Sprintf("block %s", g.name()))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// count returns a count that is usually small and sometimes that of a large counter.
func (g *generator) count() int {
	if g.large && g.IntN(3) > 0 {
		return 20 + g.IntN(400)
	}
	if g.small {
		return 1 + g.IntN(2)
	}
	if g.IntN(12) == 0 {
		return 9 + g.IntN(4)
	}
	return 1 + g.IntN(3)
}

func (g *generator) net(i int) gate.Net {
	n := gate.Net{Name: fmt.Sprint("net", i), Places: []string{"p", "q", "r"}, Initial: map[string]int{}}
	for _, p := range n.Places {
		n.Initial[p] = []int{0, 0, 1, 1, 2}[g.IntN(5)]
	}
	names := []string{"a", "b", "c"}
	for range g.IntN(2) {
		as := fmt.Sprint("o", i)
		n.Maps = append(n.Maps, gate.Map{Tool: g.pick("a", "b"), Field: "f", As: as, Source: "x", Match: rules.MatchWord("x")})
		names = append(names, as)
	}
	n.MatchFirst = g.IntN(4) == 0
	if g.IntN(5) == 0 {
		n.Free = []string{g.pick("a", "b", "c")}
	}
	most := 4
	if g.small {
		most = 2
	}
	for k := range 1 + g.IntN(most) {
		t := gate.Transition{Name: fmt.Sprint("t", k)}
		for range g.IntN(3) {
			t.Inputs = append(t.Inputs, g.pick(n.Places...))
			t.Outputs = append(t.Outputs, g.pick(n.Places...))
		}
		if g.IntN(4) == 0 {
			t.Inputs = append(t.Inputs, g.pick(n.Places...))
		}
		for range g.IntN(3) {
			t.Tools = append(t.Tools, gate.Tool{Name: names[g.IntN(len(names))]})
		}
		if len(t.Tools) > 0 {
			t.Deferred, t.Observe, t.Release = g.IntN(2) == 0, g.IntN(3) == 0, g.IntN(5) == 0
			t.Manual = !t.Observe && g.IntN(4) == 0
			t.WeakProgress = k == 1
			t.Spoils = g.spoils && t.Observe && !t.Deferred && g.IntN(2) == 0
		}
		n.Transitions = append(n.Transitions, t)
	}
	return n
}

// terminalPlaces uses a separate random source, so that other random choices for a seed do not
// change.
func terminalPlaces(seed uint64, places []string) []string {
	g := rand.New(rand.NewPCG(seed, 4))
	return places[:g.IntN(2)]
}

// gatedBy returns a want for a call that the net gates.
func gatedBy(net string) want {
	return want{call: func(_ int, nets []gate.Verdict) bool {
		return slices.ContainsFunc(nets, func(v gate.Verdict) bool { return v.Net == net && v.Kind == gate.Gated })
	}}
}

// terminal reports whether a terminal place is marked.
func (tr *trial) terminal(net string) func(*gate.State) bool {
	i := slices.IndexFunc(tr.policy.Nets(), func(n gate.NetInfo) bool { return n.Name == net })
	n := tr.policy.Nets()[i]
	return func(s *gate.State) bool {
		return slices.ContainsFunc(n.Terminal, func(p string) bool { return s.Nets[i].Marking[slices.Index(n.Places, p)] > 0 })
	}
}

func (tr *trial) errorf(format string, args ...any) {
	tr.t.Helper()
	var nets strings.Builder
	for _, n := range tr.nets {
		if n.Labels == nil {
			fmt.Fprintf(&nets, "%s %v free %v first %v\n", n.Name, n.Initial, n.Free, n.MatchFirst)
			for _, t := range n.Transitions {
				fmt.Fprintf(&nets, "  %+v\n", t)
			}
			for _, m := range n.Maps {
				fmt.Fprintf(&nets, "  map %s.%s %s as %s\n", m.Tool, m.Field, m.Source, m.As)
			}
		}
	}
	tr.t.Errorf("seed %d deny %v\n%s%s%s", tr.seed, tr.policy.Options().Deny, tr.rules, nets.String(), fmt.Sprintf(format, args...))
}

func (tr *trial) check(stats map[string]int) {
	tr.stats = stats
	stats["policies"]++
	if tr.brute.closed {
		stats["closed"]++
	}
	if tr.lossy {
		tr.losses(stats)
		return
	}
	if tr.judged {
		tr.brute.closed, tr.brute.sampled = false, true
		for _, p := range tr.report.Proofs {
			stats[p.Result.String()]++
			tr.proof(p)
		}
		return
	}
	for _, n := range tr.report.Names {
		tr.among(func() { tr.name(n, stats) }, n.Shortest, n.Failing)
	}
	for _, p := range tr.report.Proofs {
		stats[p.Result.String()]++
		tr.among(func() { tr.proof(p) }, p.Counterexample, p.Witness)
	}
	for _, g := range tr.report.Groups {
		tr.among(func() { tr.deadlock(g, stats) }, g.Deadlock.Trace)
	}
	tr.losses(stats)
	tr.redundant()
}

// name compares whether a name can be called, and how soon.
func (tr *trial) name(n verify.Name, stats map[string]int) {
	if tr.untold(n.Tool) {
		return
	}
	length, closed := tr.brute.depth(n.Tool)
	stats[fmt.Sprint("callable ", n.Callable)]++
	has := func(_, c int) bool { return tr.brute.has(c, n.Tool, false) }
	switch n.Callable {
	case verify.Possible:
		if closed && (length > len(n.Shortest.Calls()) || length < len(n.Shortest.Calls()) && !tr.partial) {
			tr.errorf("%s: shortest %+v, brute force %d", n.Tool.Name, n.Shortest, length)
		}
		tr.reaches(n.Tool, n.Shortest)
	case verify.AfterFailure:
		if length > 0 {
			tr.errorf("%s: only after failure %v, brute force %d", n.Tool.Name, n.Failing, length)
		}
		tr.reaches(n.Tool, n.Failing)
	case verify.Impossible:
		if length > 0 || tr.brute.admitted(has) {
			tr.errorf("%s: impossible because of %v, brute force %d", n.Tool.Name, n.Because, length)
		}
		tr.because(n)
	default:
		stats["why "+n.Why]++
	}
}

// untold reports whether the name cannot be among the names of a call, because these include
// neither actions nor the patterns of nets without labels.
func (tr *trial) untold(t gate.Tool) bool {
	return t.Kind == gate.Literal || t.Kind == gate.Glob && !strings.Contains(tr.rules, t.Name)
}

// reaches checks that the trace's last call is admitted and has the name.
func (tr *trial) reaches(name gate.Tool, t verify.Trace) played {
	pl := replay(tr.brute.policy, t)
	tr.real(t)
	switch {
	case pl.refused >= 0:
		tr.errorf("%s: step %d of %+v is refused", name.Name, pl.refused, t)
	case len(pl.names) == 0 || !carried(pl.calls[len(pl.names)-1], pl.names[len(pl.names)-1], name, false):
		tr.errorf("%s: the end of %+v has not the name", name.Name, t)
	}
	return pl
}

func (tr *trial) proof(p verify.Proof) {
	if each, ok := p.Assertion.(verify.Each); ok { // refuted or unknown it is one of them
		for _, a := range each.Of {
			part := p
			part.Assertion = a
			tr.proof(part)
		}
		return
	}
	b := tr.brute
	if before, ok := p.Assertion.(verify.NeverBefore); isMore(p.Assertion) || ok && before != tr.o.Prove[1] {
		tr.monitored(p)
		return
	}
	if e, ok := p.Assertion.(verify.ForEach); ok {
		tr.forEach(p, e)
		return
	}
	switch a := p.Assertion.(type) {
	case verify.Never:
		tr.safety(p, b.admitted(func(_, c int) bool { return b.has(c, a.Tool, false) }))
		if p.Result == verify.Refuted {
			tr.reaches(a.Tool, p.Counterexample)
		}
	case verify.NeverBefore:
		tr.safety(p, b.admitted(func(k, c int) bool { return b.has(c, a.Tool, false) && b.states[k].mon == 0 }))
		if p.Result == verify.Refuted {
			tr.checkBefore(a, p.Counterexample)
		}
	case verify.NeverWithoutApproval:
		tr.safety(p, b.admitted(func(k, c int) bool { return b.has(c, a.Tool, false) && !b.moves[k][c].manual }))
		if p.Result == verify.Refuted {
			if pl := tr.reaches(a.Tool, p.Counterexample); len(pl.manual) > 0 && pl.manual[len(pl.manual)-1] {
				tr.errorf("%+v: a person is asked", p)
			}
		}
	case verify.AtMost:
		tr.safety(p, b.most(a.Tools[0], a.Count+1) > a.Count)
		if p.Result == verify.Refuted {
			pl, count := tr.reaches(a.Tools[0], p.Counterexample), 0
			for i, names := range pl.names {
				if carried(pl.calls[i], names, a.Tools[0], false) {
					count++
				}
			}
			if count <= a.Count {
				tr.errorf("%+v: %d calls", p, count)
			}
		}
	case verify.Reachable:
		length, closed := b.depth(a.Tool)
		if length > 0 && p.Result == verify.Refuted || length == 0 && closed && p.Result == verify.Proved {
			tr.errorf("%+v: brute force %d", p, length)
		}
	case verify.Conserved:
		tr.invariant(p, a.Net, func(net *gate.NetInfo, d *gate.NetData) bool { return present(net, d) == initially(net) })
	case verify.Exclusive:
		if !released(tr.net(a.Net)) { // such a net loses the name, whatever its marking is
			tr.invariant(p, a.Net, func(net *gate.NetInfo, d *gate.NetData) bool { return marked(net, d, a.Places) < 2 })
		}
	case verify.NoFailureLocks:
		tr.locks(p, a.Tool)
	case verify.AlwaysPossible:
		if a.ButBudget {
			tr.butBudget(p, a.Tool)
			return
		}
		tr.always(p.Result, p.Counterexample, "always "+a.Tool.Name, want{call: func(c int, _ []gate.Verdict) bool { return b.has(c, a.Tool, false) }})
	case verify.DeadlockFree:
		w := gatedBy(a.Net)
		w.excused = tr.terminal(a.Net)
		tr.always(p.Result, p.Counterexample, "deadlock-free "+a.Net, w)
	case verify.NoTerminalStates:
		tr.always(p.Result, p.Counterexample, "no-terminal-states "+a.Net, gatedBy(a.Net))
	}
}

// safety compares a proof with the runs of the gate.
func (tr *trial) safety(p verify.Proof, broken bool) {
	if p.Result == verify.Proved && broken || p.Result == verify.Refuted && !broken && tr.brute.closed && len(p.Counterexample) < 6 && !further(p.Counterexample) {
		tr.errorf("%T %+v: broken %v", p.Assertion, p, broken)
	}
	if p.Result == verify.Refuted && len(p.Counterexample) == 0 {
		tr.errorf("%T %+v: no counterexample", p.Assertion, p)
	}
}

// further reports whether calls in the run have values that brute does not try.
func further(t verify.Trace) bool {
	return slices.ContainsFunc(t, func(s verify.Step) bool { return strings.Contains(s.Args, `"v`) })
}

func (tr *trial) checkBefore(a verify.NeverBefore, t verify.Trace) {
	pl := tr.reaches(a.Tool, t)
	fresh := false
	for _, step := range t[:len(t)-1] {
		call := callOfStep(t[at(t, step.Call)])
		names := tr.policy.Names(call)
		if !step.Ends && carried(call, names, a.Tool, false) {
			fresh = false
		}
		if step.Ends && step.Outcome == gate.Success && carried(call, names, a.First, true) {
			fresh = true
		}
	}
	if fresh {
		tr.errorf("%+v: %+v %v", a, t, pl.order)
	}
}

// at returns the step that begins the call.
func at(t verify.Trace, call int) int {
	return slices.IndexFunc(t, func(s verify.Step) bool { return s.Call == call && !s.Ends })
}
