package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/soak"
)

// TestRandomPrinted compares the printed reports on random policies with the gate. Every run is
// replayed and must support its claim, no random run may violate a proof, and all calls must be
// decided alike without a net that was reported as redundant. The policies contain keys, sums,
// conditions, overlapping maps, and approvals. PETRIGATE_SOAK sets the number of policies, and
// PETRIGATE_SEED the first seed.
func TestRandomPrinted(t *testing.T) {
	from, count := soak.Range(t, 30)
	stats := map[string]int{}
	for seed := from; seed < from+uint64(count) && !t.Failed(); seed++ {
		printed(t, seed, stats)
		if seed%1000 == 999 {
			t.Log(seed, stats)
		}
	}
	t.Log(stats)
	for _, want := range []string{"policies", "runs", "proved", "refuted", "redundant", "admitted", "refused"} {
		if stats[want] == 0 {
			t.Errorf("no %s in %d policies", want, stats["policies"])
		}
	}
}

// A pressing is a policy with its printed report.
type pressing struct {
	*generator
	t      *testing.T
	seed   uint64
	rules  string
	policy *gate.Policy
	claims []verify.Assertion
	report *verify.Report
	stats  map[string]int
}

func printed(t *testing.T, seed uint64, stats map[string]int) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 2029))}
	src := g.everyForm()
	built, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "policy.rules", Text: src}}})
	if err != nil {
		stats["not a policy"]++
		return
	}
	stats["policies"]++
	p := &pressing{generator: g, t: t, seed: seed, rules: src, policy: built.Policy, stats: stats}
	for range 5 {
		p.claims = append(p.claims, g.claimOfEveryForm())
	}
	p.report = verify.Policy(built.Policy, verify.Options{
		Known: true, Tools: []verify.Tool{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "pay"}}, Prove: p.claims, States: 4000,
	})
	p.runs()
	p.play()
	for _, r := range p.report.Redundant {
		stats["redundant"]++
		p.without(r.Net.Name)
	}
}

func (g *generator) formName() string {
	return g.pick("a", "b", "c", "pay", "a", "b", "pay", "m", "big", "*")
}

// everyForm returns rules that combine all forms.
func (g *generator) everyForm() string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for range g.IntN(3) {
		switch g.IntN(6) {
		case 0:
			add(`map pay when "args.amount %s %d" as big`, g.pick(">", ">=", "<", "<=", "=="), g.IntN(4)*4-1)
		case 1:
			add(`map pay when "args.amount > %d && args.f == 'x'" as %s`, g.IntN(12), g.pick("big", "m"))
		case 2:
			add("map pay.amount %s as %s", g.pick("/^9/", "/5/", "/^[0-9]$/"), g.pick("big", "m"))
		case 3:
			add("map %s.f %s as m", g.pick("a", "b", "pay"), g.pick("x", "y", "/^x/", "/[xy]/"))
		case 4:
			add(`map %s when "args.f == 'x'" as m`, g.pick("a", "pay"))
		default:
			add("map *.f x as m")
		}
	}
	each := func() string { return g.pick("", "", " for each f", " for each f", " for each g") }
	same := func() string {
		return g.pick("", " with same f", " with same f", " with same f as g", " with same f, g")
	}
	unless := func() string { return g.pick("", "", "", " unless "+g.pick("a", "c")) }
	for range 2 + g.IntN(4) {
		a, b, c := g.formName(), g.formName(), g.formName()
		switch g.IntN(12) {
		case 0, 1:
			add("limit %s to %d of amount per %s%s", g.pick("pay", "pay", "big", "m", "*"), 1+g.IntN(10), g.pick("session", "session", "user", "day"), each())
		case 2:
			add("limit %s to %d per session%s%s", a, 1+g.IntN(3), each(), unless())
		case 3:
			add("limit %s to 1 at once%s", a, each())
		case 4:
			add("limit %s to %d per %s%s", a, 1+g.IntN(2), g.pick(b, "successful "+b), each())
		case 5:
			add("require %s before %s%s%s%s", a, b, g.pick("", "", " once"), same(), unless())
		case 6:
			add("require %s or %s before %s%s", a, b, c, g.pick(same(), " with same f as result.$.r"))
		case 7:
			add("require %s before %s since %s", a, b, c)
		case 8, 9:
			add("%s", g.approval())
		case 10:
			add("block %s after %s%s", a, b, g.pick("", " until "+c))
		default:
			add("require %s before %s with same f as result.$.r", a, b)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func (g *generator) claimOfEveryForm() verify.Assertion {
	tool := func() gate.Tool { return gate.Tool{Name: g.pick("a", "b", "pay", "m", "big")} }
	switch g.IntN(8) {
	case 0:
		return verify.NeverBefore{Tool: tool(), First: tool(), Once: g.IntN(2) == 0}
	case 1:
		return verify.AtMost{Count: 1 + g.IntN(4), Tools: []gate.Tool{tool()}}
	case 2:
		a := tool()
		return verify.NeverWhile{Tool: a, Other: a}
	case 3:
		return verify.NeverAfter{Tool: tool(), After: tool(), Until: []gate.Tool{tool()}}
	case 4:
		return verify.NeverAfter{Tool: tool(), After: tool(), Unapproved: &verify.Approval{Count: g.IntN(3)}}
	case 5:
		return verify.NeverWithoutApproval{Tool: tool(), Approval: verify.Approval{Count: g.IntN(3), Via: g.pick("", "cli")}}
	case 6:
		return verify.Reachable{Tool: tool()}
	}
	return verify.AlwaysPossible{Tool: tool()}
}

func (p *pressing) errorf(format string, args ...any) {
	p.t.Helper()
	p.t.Errorf("seed %d\n%s%s", p.seed, p.rules, fmt.Sprintf(format, args...))
}

// runs replays all printed runs.
func (p *pressing) runs() {
	for _, n := range p.report.Names {
		p.stats[fmt.Sprint("callable ", n.Callable)]++
		for _, run := range []verify.Trace{n.Shortest, n.Failing} {
			if !p.replays(run, nil) {
				p.errorf("%s: %+v", n.Tool.Name, run)
			}
		}
	}
	for i, proof := range p.report.Proofs {
		p.stats[proof.Result.String()]++
		if !p.replays(proof.Counterexample, watcherOf(p.claims[i])) || !p.replays(proof.Witness, nil) {
			p.errorf("%T %+v: %+v", proof.Assertion, proof.Assertion, proof)
		}
	}
	for _, g := range p.report.Groups {
		if !p.replays(g.Deadlock.Trace, nil) {
			p.errorf("deadlock: %+v", g.Deadlock.Trace)
		}
	}
	for _, l := range p.report.Losses {
		if !p.replays(l.Trace, nil) {
			p.errorf("loss of %v: %+v", l.Tools, l.Trace)
		}
	}
}

// A rerun is a watched session.
type rerun struct {
	policy  *gate.Policy
	session *gate.Session
	now     time.Time
	watch   *watcher
	state   string
	broken  bool
	asked   []gate.Step
}

func (p *pressing) rerun(w *watcher) *rerun {
	start := time.Unix(0, 0)
	return &rerun{policy: p.policy, session: gate.NewSession(p.policy, gate.SessionOptions{Time: start}), now: start, watch: w}
}

// begin decides a call and grants approvals.
func (r *rerun) begin(c gate.Call) (number uint64, ok bool) {
	c.Time, r.asked = r.now, nil
	d := r.session.Decide(c, nil)
	if ask, asks := d.(*gate.Ask); asks {
		r.asked = ask.Steps
		d = r.session.Decide(c, ask.Grant())
	}
	allow, ok := d.(*gate.Allow)
	if !ok {
		return 0, false
	}
	if r.watch != nil {
		var broken bool
		r.state, broken = r.watch.begin(r.state, c, r.policy.Names(c), r.asked)
		r.broken = r.broken || broken
	}
	return allow.Ticket.Number, true
}

func (r *rerun) end(number uint64, c gate.Call, o gate.Outcome, result string) {
	e := gate.End{Outcome: o, Time: r.now}
	if result != "" {
		e.Result = []byte(result)
	}
	r.session.End(number, e)
	if r.watch != nil && r.watch.end != nil {
		r.state = r.watch.end(r.state, c, r.policy.Names(c), o)
	}
}

// replays reports whether the gate admits the run and the run violates the watched claim.
func (p *pressing) replays(t verify.Trace, w *watcher) bool {
	r := p.rerun(w)
	calls, numbers, results := make(map[int]gate.Call), make(map[int]uint64), make(map[int]string)
	for _, s := range t {
		p.stats["runs"]++
		switch {
		case s.Wait > 0:
			r.now = r.now.Add(s.Wait * time.Duration(max(1, s.Times)))
			r.session.Tick(r.now)
			continue
		case s.Ends:
			r.end(numbers[s.Call], calls[s.Call], s.Outcome, results[s.Call])
			continue
		}
		c := gate.Call{Tool: s.Tool, Args: []byte(s.Args)}
		for range max(1, s.Times) {
			number, ok := r.begin(c)
			if !ok {
				return false
			}
			calls[s.Call], numbers[s.Call], results[s.Call] = c, number, s.Result
			if s.Times > 0 {
				r.end(number, c, gate.Success, s.Result)
			}
		}
	}
	return w == nil || len(t) == 0 || r.broken
}

// anyCall returns a random call.
func (g *generator) anyCall() gate.Call {
	var members []string
	for _, field := range []string{"f", "g"} {
		if v := g.pick("", `"x"`, `"x"`, `"y"`, `"z"`); v != "" {
			members = append(members, strconv.Quote(field)+":"+v)
		}
	}
	if v := g.pick("", "0", "1", "5", "9", `"9"`, "11", "95", "-1"); v != "" {
		members = append(members, `"amount":`+v)
	}
	return gate.Call{Tool: g.pick("a", "b", "c", "pay", "pay"), Args: []byte("{" + strings.Join(members, ",") + "}")}
}

// play makes random runs. They must not violate a proof or call a name that was reported as
// uncallable.
func (p *pressing) play() {
	for i, proof := range p.report.Proofs {
		if w := watcherOf(p.claims[i]); proof.Result == verify.Proved && w != nil {
			for range 6 {
				p.random(w, func(r *rerun, c gate.Call, _ []gate.Name) {
					if r.broken {
						p.errorf("%T %+v is proved, and broken by %s %s", proof.Assertion, proof.Assertion, c.Tool, c.Args)
					}
				})
			}
		}
	}
	for range 6 {
		p.random(nil, func(_ *rerun, c gate.Call, names []gate.Name) {
			for _, n := range p.report.Names {
				if n.Callable == verify.Impossible && carried(c, names, n.Tool, false) {
					p.errorf("%s can never be called: %s %s", n.Tool.Name, c.Tool, c.Args)
				}
			}
		})
	}
}

// flight is an admitted call.
type flight struct {
	number uint64
	call   gate.Call
}

// random makes one random run.
func (p *pressing) random(w *watcher, admitted func(*rerun, gate.Call, []gate.Name)) {
	r := p.rerun(w)
	var open []flight
	for range 16 {
		if len(open) > 0 && p.IntN(2) == 0 {
			i := p.IntN(len(open))
			r.end(open[i].number, open[i].call, []gate.Outcome{gate.Success, gate.Success, gate.Failure, gate.Unknown}[p.IntN(4)], p.pick("", `{"r":"x"}`))
			open = slices.Delete(open, i, i+1)
			continue
		}
		c := p.anyCall()
		number, ok := r.begin(c)
		p.stats[map[bool]string{true: "admitted", false: "refused"}[ok]]++
		if !ok || p.t.Failed() {
			continue
		}
		open = append(open, flight{number, c})
		admitted(r, c, p.policy.Names(c))
	}
}

// without compares random runs under the policy with runs without the given net.
func (p *pressing) without(net string) {
	var fewer []gate.Net
	for _, n := range p.policy.Nets() {
		if n.Name != net {
			fewer = append(fewer, n.Net)
		}
	}
	less, err := gate.NewPolicy(fewer, p.policy.Options())
	if err != nil {
		p.errorf("without %s: %v", net, err)
		return
	}
	for range 8 {
		with, rest := p.rerun(nil), p.rerun(nil)
		rest.policy, rest.session = less, gate.NewSession(less, gate.SessionOptions{Time: rest.now})
		var open []flight
		var others []uint64
		for range 16 {
			if len(open) > 0 && p.IntN(2) == 0 {
				i, o, result := p.IntN(len(open)), []gate.Outcome{gate.Success, gate.Success, gate.Failure, gate.Unknown}[p.IntN(4)], p.pick("", `{"r":"x"}`)
				with.end(open[i].number, open[i].call, o, result)
				rest.end(others[i], open[i].call, o, result)
				open, others = slices.Delete(open, i, i+1), slices.Delete(others, i, i+1)
				continue
			}
			c := p.anyCall()
			number, ok := with.begin(c)
			other, also := rest.begin(c)
			if ok != also || ok && asked(with.asked) != asked(rest.asked) {
				p.errorf("%s changes the verdict on %s %s: %v %s, without it %v %s", net, c.Tool, c.Args, ok, asked(with.asked), also, asked(rest.asked))
				return
			}
			if ok {
				open, others = append(open, flight{number, c}), append(others, other)
			}
		}
	}
}
