package gate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

func shadow(n gate.Net) gate.Net {
	n.Shadow = true
	return n
}

// would makes a call that passes and returns the answer that the nets in shadow mode would have
// given: "" if they agree, otherwise the kind and the nets.
func (p *player) would(text string) string {
	p.t.Helper()
	return p.wouldCall(call(text))
}

func (p *player) wouldCall(c gate.Call) string {
	p.t.Helper()
	a := p.allowCall(c, nil)
	a.Ticket.SettleAt(gate.Success, c.Time)
	if a.Would == nil {
		return ""
	}
	said := []string{string(a.Would.Kind)}
	for _, b := range a.Would.Blocks {
		said = append(said, b.Net)
	}
	return strings.Join(said, " ")
}

func (p *player) script(steps ...string) {
	p.t.Helper()
	for _, step := range steps {
		text, want, _ := strings.Cut(step, " -> ")
		if got := p.would(text); got != want {
			p.t.Errorf("%s: %q, want %q\n%s", text, got, want, p.Status())
		}
	}
}

// TestPolicyInShadow checks that a policy reports whether it is in shadow mode as a whole.
func TestPolicyInShadow(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		p, err := gate.NewPolicy(nil, gate.PolicyOptions{Shadow: shadow})
		if err != nil || p.Shadow() != shadow {
			t.Errorf("%t: %v, %v", shadow, p, err)
		}
	}
}

func TestShadow(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, shadow(limitNet("x", 1, "session")), limitNet("x", 3, "session"))
	p.script("x", "x -> blocked limit-x-1", "x -> blocked limit-x-1")
	p.refuse("x", gate.KindBlocked, "limit-x-3") // the net in shadow mode does not count here
	p.status("limit-x-1 (active, shadow): ready:1; enforced: ready:1", "limit-x-3 (active): ready:1")
	want := gate.ShadowReport{WouldCount: gate.WouldCount{Refused: 2}, Nets: []gate.ShadowState{{
		Name: "limit-x-1", Active: true, Refused: 2,
		Enforced: gate.Marking{{Place: "idle"}, {Place: "ready", Count: 1}, {Place: "budget"}},
		Actual:   gate.Marking{{Place: "idle"}, {Place: "ready", Count: 1}, {Place: "budget"}},
	}}}
	if diff := cmp.Diff(want, p.Shadow()); diff != "" {
		t.Error(diff)
	}
	p.Reset()
	p.script("x", "x -> blocked limit-x-1")
}

// TestActualAndEnforcedMarkingsDiffer checks that a call that would have been refused moves the actual marking of
// every net that it can, and no enforced marking.
func TestActualAndEnforcedMarkingsDiffer(t *testing.T) {
	p := play(t, gate.PolicyOptions{Shadow: true}, blockNet("x"), limitNet("x", 2, "session"), sequenceNet("x", "y"))
	p.script("x -> blocked block-x", "y -> blocked require-x-before-y", "x -> blocked block-x", "x -> blocked block-x")
	var parted []string
	for _, n := range p.Shadow().Nets {
		if n.Parted {
			parted = append(parted, n.Name+": "+n.Actual.String()+" / "+n.Enforced.String())
		}
	}
	if diff := cmp.Diff([]string{"limit-x-2: ready:1 / ready:1, budget:2", "require-x-before-y: gate:1 / ready:1"}, parted); diff != "" {
		t.Error(diff)
	}
}

func TestShadowAsks(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, shadow(approvalNet("deploy")), shadow(limitNet("deploy", 1, "session")))
	p.script("deploy -> approval approve-before-deploy", "deploy -> blocked limit-deploy-1")
	r := p.Shadow()
	if r.Asked != 1 || r.Refused != 1 || r.Nets[0].Asked != 1 || r.Nets[0].Refused != 0 || r.Nets[1].Refused != 1 {
		t.Errorf("%+v", r)
	}
	// Beside a net that enforces and asks, it adds nothing to the question.
	p = play(t, gate.PolicyOptions{}, approvalNet("x"), shadow(approvalNet("x")))
	ask := p.ask("x")
	if len(ask.Steps) != 1 {
		t.Errorf("%+v", ask.Steps)
	}
	if a := p.allowCall(call("x"), ask.Grant()); a.Would == nil || a.Would.Kind != gate.KindApproval {
		t.Errorf("%+v", a.Would)
	}
}

func TestShadowDefault(t *testing.T) {
	p := play(t, gate.PolicyOptions{Deny: true, Shadow: true}, limitNet("x", 5, "session"))
	p.script("x", "y -> default")
	if r := p.Shadow(); r.Refused != 1 {
		t.Errorf("%+v", r)
	}
	// A net in shadow mode does not make a call known to an enforced default.
	p = play(t, gate.PolicyOptions{Deny: true}, shadow(limitNet("x", 5, "session")), limitNet("y", 5, "session"))
	p.refuse("x", gate.KindDefault)
	p.script("y")
}

func TestShadowVerdicts(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, shadow(blockNet("x")), limitNet("x", 2, "session"), shadow(limitNet("x", 1, "session")), shadow(blockNet("y")))
	var said []string
	for _, v := range p.allow("x").Nets {
		said = append(said, fmt.Sprint(v.Net, v.Kind, v.Shadow))
	}
	want := []string{fmt.Sprint("block-x", gate.Blocked, true), fmt.Sprint("limit-x-2", gate.Gated, false), fmt.Sprint("limit-x-1", gate.Gated, true)}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	vs := p.Classify(call("y"))
	if len(vs) != 4 || vs[1].Shadow || !vs[2].Shadow || vs[2].Kind != gate.Abstain || vs[3].Kind != gate.Blocked {
		t.Errorf("%+v", vs)
	}
	for _, e := range p.Enabled() {
		if e.Shadow != (e.Net == "limit-x-1") {
			t.Errorf("%+v", e)
		}
	}
}

func TestShadowValidators(t *testing.T) {
	n := shadow(handNet("n", map[string]int{"a": 9}, "t: a -> b | x"))
	n.Validate = func(f gate.Firing) error {
		seen, _ := f.Meta["seen"].(int)
		f.Meta["seen"] = seen + 1
		if strings.Contains(string(f.Call.Args), "bad") {
			return errors.New("bad arguments")
		}
		return nil
	}
	p := play(t, gate.PolicyOptions{}, n)
	p.script("x {}", `x "bad" -> validation n`, "x {}")
	if got := p.Nets()[0]; got.Meta["seen"] != 2 || got.Marking.String() != "a:6, b:3" || got.Enforced.String() != "a:7, b:2" {
		t.Errorf("%+v", got)
	}
}

func TestShadowOutcomes(t *testing.T) {
	n := shadow(handNet("n", map[string]int{"a": 1}, "t: a -> b [deferred] | x", "tick: b -> a [1m]"))
	remembered := 0
	n.OnSuccess = func(f gate.Firing) { remembered += len(f.Call.Args) }
	p := play(t, gate.PolicyOptions{}, n, shadow(blockNet("y")))
	ticket := p.allowCall(callAt("x {}", noon), nil).Ticket
	if !ticket.Awaited || len(p.Nets()[0].InFlight) != 1 {
		t.Error("nothing is awaited")
	}
	if got := p.Nets()[0]; got.Marking.String() != "a:1 (1 in flight)" || got.Enforced.String() != "a:1 (1 in flight)" {
		t.Errorf("%+v", got)
	}
	r := p.allowCall(callAt("x {}", noon), nil).Would
	if r == nil || len(r.Blocks[0].Holds) != 1 {
		t.Errorf("%+v", r)
	}
	ticket.SettleAt(gate.Success, noon)
	if remembered != 4 {
		t.Errorf("the hook has seen %d bytes, want those of both states", remembered)
	}
	if got := p.Nets()[0]; got.Marking.String() != "b:1" || got.Enforced.String() != "b:1" || !got.Next.Equal(noon.Add(time.Minute)) {
		t.Errorf("%+v", got)
	}
	p.Tick(noon.Add(time.Minute))
	p.status("n (active, shadow): a:1; enforced: a:1", "block-y (active, shadow): ready:1; enforced: ready:1")
}

// The clock moves both states, each by its own tokens.
func TestShadowClock(t *testing.T) {
	p := play(t, gate.PolicyOptions{Shadow: true}, window(2, time.Minute), blockNet("y"), handNet("both", map[string]int{"a": 2}, "t: a -> b [30s]"))
	p.wouldCall(callAt("x", noon))
	p.Tick(noon.Add(time.Minute))
	p.status("limit-x (active, shadow): ready:1, budget:2; enforced: ready:1, budget:2", "block-y (active, shadow): ready:1; enforced: ready:1",
		"both (active, shadow): a:2; enforced: a:2; next at 2026-01-02T12:01:30Z") // no call has started the clock
	p.Tick(noon.Add(90 * time.Second))
	p.Tick(noon.Add(90 * time.Second)) // no change
	if got := p.Nets()[2]; got.Marking.String() != "a:1, b:1" || got.Enforced.String() != "a:1, b:1" {
		t.Errorf("%+v", got)
	}
	only := shadow(window(1, time.Minute))
	p = play(t, gate.PolicyOptions{}, only, shadow(blockNet("x")))
	p.wouldCall(callAt("x", noon))     // moves the actual state
	p.Tick(noon.Add(90 * time.Second)) // only the actual state has something to refund
	p.status("limit-x (active, shadow): ready:1, budget:1; enforced: ready:1, budget:1", "block-x (active, shadow): ready:1; enforced: ready:1")
}

func TestShadowAndNetsThatDoNotRest(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, shadow(restless("")), shadow(limitNet("x", 5, "session")))
	p.script("x -> blocked n")
	p.status("n (active, shadow): a:20000, c:1; enforced: a:20000, c:1", "limit-x-5 (active, shadow): ready:1, budget:4; enforced: ready:1, budget:5")
}

func TestSwitchingShadows(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, shadow(sequenceNet("a", "b")))
	ticket := p.allow("a").Ticket
	if err := p.Deactivate("require-a-before-b"); err != nil {
		t.Fatal(err)
	}
	p.script("b")
	if err := p.Activate("require-a-before-b"); err != nil {
		t.Fatal(err)
	}
	ticket.Settle(gate.Success) // the watch ended when the net was switched off
	p.script("b -> blocked require-a-before-b")
}

func TestPromptOfShadowsAndScopes(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, scoped(gate.ScopePrincipal, shadow(window(1, time.Minute))), scoped(gate.ScopeGlobal, blockNet("y")))
	p.wouldCall(callAt("x", noon))
	want := `## Active Petri Nets

### limit-x (principal, shadow)
Available gated tools: none
Free tools: none
State: ready:1, spent:1; enforced: ready:1, spent:1; next at 2026-01-02T12:01:00Z

### block-y (global)
Available gated tools: none
Free tools: none
State: ready:1
`
	if diff := cmp.Diff(want, p.Prompt()); diff != "" {
		t.Error(diff)
	}
}

// A rule in shadow mode and the same rule enforced are two nets, and policies that differ only in
// this have different fingerprints.
func TestShadowIsPartOfARule(t *testing.T) {
	both := newPolicy(t, shadow(blockNet("x")), blockNet("x"))
	if len(both.Nets()) != 2 || len(both.Merged()) != 0 {
		t.Errorf("%+v", both.Nets())
	}
	prints := map[string]bool{}
	for _, o := range []gate.PolicyOptions{{}, {Shadow: true}} {
		for _, n := range []gate.Net{blockNet("x"), shadow(blockNet("x"))} {
			p, err := gate.NewPolicy([]gate.Net{n}, o)
			if err != nil {
				t.Fatal(err)
			}
			prints[p.Fingerprint()] = true
		}
	}
	if len(prints) != 3 {
		t.Errorf("%d fingerprints", len(prints))
	}
}

// TestShadowsChangeNothing runs the same calls on a policy with and without its nets in shadow
// mode: both admit the same calls and have the same markings.
func TestShadowsChangeNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range soak.Count(80) {
		var all, enforcing []gate.Net
		for _, n := range randomNets(random, 4) {
			if n.Shadow = random.IntN(2) == 0; !n.Shadow {
				enforcing = append(enforcing, n)
			}
			all = append(all, n)
		}
		o := gate.PolicyOptions{Deny: random.IntN(3) == 0}
		with, without := sessionOf(all, o), sessionOf(enforcing, o)
		if with == nil || without == nil {
			continue
		}
		playBoth(t, random, with, without, func(a, b gate.Decision) {
			if describe(a) != describe(b) {
				t.Fatalf("%+v\n%+v\n%s%s", a, b, with.Status(), without.Status())
			}
			var left []string
			for _, line := range strings.Split(with.Status(), "\n") {
				if !strings.Contains(line, "shadow") {
					left = append(left, line)
				}
			}
			if strings.Join(left, "\n") != without.Status() {
				t.Fatalf("%s\n%s", with.Status(), without.Status())
			}
		})
	}
}

// TestShadowForetells runs the same calls on a policy in shadow mode and on the same policy
// enforced. The shadow policy predicts the decisions of the enforced policy. Its enforced markings
// equal the enforced policy's markings, and its actual markings equal those of each net alone, if
// the net has no spoilers.
func TestShadowForetells(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range soak.Count(80) {
		nets := randomNets(random, 3)
		o := gate.PolicyOptions{Deny: random.IntN(3) == 0}
		force := sessionOf(nets, o)
		o.Shadow = true
		dark := sessionOf(nets, o)
		if force == nil {
			continue
		}
		playBoth(t, random, dark, force, func(a, b gate.Decision) {
			want := describe(b)
			got := "allow"
			if allow := a.(*gate.Allow); allow.Would != nil && allow.Would.Kind != gate.KindApproval {
				got = describe(allow.Would)
			}
			if got != want {
				t.Fatalf("%s, want %s\n%s%s", got, want, dark.Status(), force.Status())
			}
			for i, n := range force.Nets() {
				if m := dark.Nets()[i].Enforced; !slices.Equal(m, n.Marking) {
					t.Fatalf("%s, want %s", m, n.Marking)
				}
			}
		})
		for i := range nets {
			if slices.ContainsFunc(nets[i].Transitions, func(t gate.Transition) bool { return t.Spoils }) {
				continue // a call spoils even if the net would block it
			}
			single := sessionOf(nets[i:i+1], gate.PolicyOptions{Shadow: true})
			alone := sessionOf(nets[i:i+1], gate.PolicyOptions{})
			playBoth(t, random, single, alone, func(gate.Decision, gate.Decision) {
				if got, want := single.Nets()[0].Marking, alone.Nets()[0].Marking; !slices.Equal(got, want) {
					t.Fatalf("%s, want %s", got, want)
				}
			})
		}
	}
}

func randomNets(random *rand.Rand, most int) []gate.Net {
	data := make([]byte, 300)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	d := dice(data)
	var nets []gate.Net
	for i := range 1 + random.IntN(most) {
		n, _, _ := d.net(fmt.Sprint("n", i))
		nets = append(nets, n)
	}
	return nets
}

func sessionOf(nets []gate.Net, o gate.PolicyOptions) *gate.Session {
	p, err := gate.NewPolicy(nets, o)
	if err != nil {
		return nil // the net does not come to rest
	}
	return gate.NewSession(p, gate.SessionOptions{})
}

// playBoth makes random calls with random ends in both sessions.
func playBoth(t *testing.T, random *rand.Rand, a, b *gate.Session, check func(a, b gate.Decision)) {
	t.Helper()
	type pair [2]*gate.Ticket
	var open []pair
	now := noon
	for range 40 {
		now = now.Add(time.Duration(random.IntN(4)) * 700 * time.Millisecond)
		if len(open) > 0 && random.IntN(2) == 0 {
			i, o := random.IntN(len(open)), gate.Outcome(random.IntN(3))
			for _, ticket := range open[i] {
				if ticket != nil {
					ticket.SettleAt(o, now)
				}
			}
			continue
		}
		c := gate.Call{Tool: string(rune('a' + random.IntN(4))), Time: now}
		c.Args = []byte([]string{``, `{"f":"0"}`, `{"f":"01"}`}[random.IntN(3)])
		da, db := agree(a, c), agree(b, c)
		a.Tick(now)
		b.Tick(now)
		check(da, db)
		var p pair
		for i, d := range []gate.Decision{da, db} {
			if allow, ok := d.(*gate.Allow); ok {
				p[i] = allow.Ticket
			}
		}
		open = append(open, p)
	}
}

// agree decides and gives the requested approval.
func agree(s *gate.Session, c gate.Call) gate.Decision {
	d := s.Decide(c, nil)
	if ask, ok := d.(*gate.Ask); ok {
		return s.Decide(c, ask.Grant())
	}
	return d
}

func describe(d gate.Decision) string {
	r, ok := d.(*gate.Refusal)
	if !ok {
		return "allow"
	}
	text := string(r.Kind)
	if r.Kind == gate.KindStateChanged { // with the approval of a person
		text = string(gate.KindBlocked)
	}
	for _, b := range r.Blocks {
		text += " " + b.Net
	}
	return text
}
