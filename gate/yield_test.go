package gate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
)

// offer plays nets in a session that knows the callable tools.
func offer(t *testing.T, tools string, nets ...gate.Net) *player {
	t.Helper()
	p := play(t, gate.PolicyOptions{}, nets...)
	var calls []gate.Call
	for _, tool := range strings.Fields(tools) {
		calls = append(calls, gate.Call{Tool: tool})
	}
	p.Offer(calls)
	return p
}

// shows checks that exactly the given tools are shown, and that the net that hides any other tool
// refuses calls to it.
func (p *player) shows(want string) gate.Advertised {
	p.t.Helper()
	a := p.Advertise(noon)
	if got := strings.Join(a.Tools, " "); got != want {
		p.t.Errorf("shows %q, want %q", got, want)
	}
	for _, tool := range a.Tools {
		if vs := p.Classify(gate.Call{Tool: tool}); slices.ContainsFunc(vs, func(v gate.Verdict) bool { return v.Kind == gate.Blocked }) {
			p.t.Errorf("%s is shown and blocked: %+v", tool, vs)
		}
	}
	for _, h := range a.Hidden {
		r, ok := p.Decide(gate.Call{Tool: h.Tool}, nil).(*gate.Refusal)
		if !ok || !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Net == h.Net && b.Reason == h.Reason }) {
			p.t.Errorf("%s: %+v, hidden by %s", h.Tool, r, h.Net)
		}
	}
	return a
}

// TestRequiredNetsConflict checks that no tool is shown or allowed if required nets together leave
// none.
func TestRequiredNetsConflict(t *testing.T) {
	p := offer(t, "a b c", hides("g1", 5, "b c"), hides("g2", 1, "a"))
	if diff := cmp.Diff(&gate.Conflict{Nets: []string{"g1", "g2"}}, p.shows("").Conflict); diff != "" {
		t.Error(diff)
	}
	p.refuse("a", gate.KindBlocked, "g2")
	p.refuse("b", gate.KindBlocked, "g1")
}

// TestAdvisoryNetYields checks that an advisory net that would leave no tool does not block the
// calls that the others let pass, and does not move with them.
func TestAdvisoryNetYields(t *testing.T) {
	p := offer(t, "a b c", hides("g1", 1, "b c"), advisory(hides("g2", 5, "a")))
	if diff := cmp.Diff(&gate.Conflict{Winner: "g1", Nets: []string{"g2", "g1"}, Yields: []string{"g2"}}, p.shows("a").Conflict); diff != "" {
		t.Error(diff)
	}
	before := p.Status()
	if diff := cmp.Diff([]gate.Verdict{{Net: "g2", Kind: gate.Yields}}, p.allow("a").Nets); diff != "" {
		t.Error(diff)
	}
	if after := p.Status(); after != before {
		t.Errorf("%s became %s", before, after)
	}
	p.refuse("b", gate.KindBlocked, "g1")
	p.allow("unlock")
	p.shows("a b c")
}

// TestAdvisoryNetBlocks checks that an advisory net blocks if the tools are unknown, and if it
// leaves a tool.
func TestAdvisoryNetBlocks(t *testing.T) {
	nets := []gate.Net{hides("g1", 1, "b c"), advisory(hides("g2", 5, "a"))}
	play(t, gate.PolicyOptions{}, nets...).refuse("a", gate.KindBlocked, "g2")
	p := offer(t, "a b c d", nets...)
	p.shows("d")
	p.refuse("a", gate.KindBlocked, "g2")
	p.Offer([]gate.Call{{Tool: "a"}, {Tool: "b"}, {Tool: "c"}})
	p.shows("a")
}

// phases are an advisory net that requires a plan before an act, and a net that overrules it until
// a repair.
func phases() []gate.Net {
	plan := advisory(handNet("phases", map[string]int{"start": 1}, "plan: start -> planned | plan", "act: planned -> planned | act write"))
	repair := handNet("repairs", map[string]int{"broken": 1}, "repair: broken -> whole | repair")
	repair.Priority = 1
	return []gate.Net{plan, recovering(repair, map[string]int{"broken": 1})}
}

// TestRecoveryOverrulesAdvisory checks that while a net is in recovery, and only then, tools
// blocked by an advisory net of lower priority are shown and allowed.
func TestRecoveryOverrulesAdvisory(t *testing.T) {
	p := offer(t, "repair plan act write read", phases()...)
	if a := p.shows("repair plan act write read"); a.Conflict != nil || !slices.Equal(a.Ignored, []string{"phases"}) {
		t.Errorf("%+v", a)
	}
	p.success("act")
	p.success("repair")
	p.shows("plan read")
	p.refuse("act", gate.KindBlocked, "phases")
	p.success("plan")
	p.shows("act write read")

	// The set of offered tools makes no difference.
	p = play(t, gate.PolicyOptions{}, phases()...)
	p.allow("act")
	if err := p.Deactivate("repairs"); err != nil {
		t.Fatal(err)
	}
	p.refuse("act", gate.KindBlocked, "phases")
}

// TestRequiredNetInRecovery checks that a required net blocks during a recovery, and appears alone
// in the refusal.
func TestRequiredNetInRecovery(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, append(phases(), hides("keeps", 0, "act"))...)
	p.refuse("act", gate.KindBlocked, "keeps")
	p.allow("write")
}

// TestYieldInShadow checks that nets in shadow mode yield to each other as if they were enforced,
// and overrule no enforced net.
func TestYieldInShadow(t *testing.T) {
	nets := phases()
	p := play(t, gate.PolicyOptions{Shadow: true}, shadow(nets[0]), shadow(nets[1]))
	p.script("act", "repair", "act -> blocked phases")

	p = offer(t, "a b", shadow(hides("g1", 1, "b")), shadow(advisory(hides("g2", 0, "a"))))
	p.script("a", "b -> blocked g1")
	if vs := p.Classify(gate.Call{Tool: "a"}); vs[1].Kind != gate.Yields {
		t.Errorf("%+v", vs)
	}

	p = play(t, gate.PolicyOptions{}, nets[0], shadow(nets[1]))
	p.refuse("act", gate.KindBlocked, "phases")
}

// TestYieldsToAPerson checks that a net that yields does not ask about another name of the call
// that requires approval, while nets that do not yield ask.
func TestYieldsToAPerson(t *testing.T) {
	asking := advisory(handNet("n", map[string]int{"p": 1, "q": 0}, "one: p -> p [manual] | up.act", "two: q -> q | act"))
	c := gate.Call{Tool: "up.act", Also: []gate.Name{{Text: "act", Certain: true}}}
	p := play(t, gate.PolicyOptions{}, asking, phases()[1])
	p.allowCall(c, nil)
	p = play(t, gate.PolicyOptions{}, asking, phases()[1], approvalNet("act"))
	a, ok := p.Decide(c, nil).(*gate.Ask)
	if !ok || len(a.Steps) != 1 || a.Steps[0].Net != "approve-before-act" {
		t.Fatalf("%+v", a)
	}
}

// TestShownIsAllowed checks, for nets of all kinds and in every state of a random walk, that the
// advertised tools are those that are allowed.
func TestShownIsAllowed(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	tools := []string{"a", "b", "c", "d"}
	yields, conflicts := 0, 0
	for range 300 {
		var nets []gate.Net
		for i := range 1 + r.IntN(4) {
			n := handNet(fmt.Sprint("n", i), map[string]int{"p": 1},
				"one: p -> q | "+tools[r.IntN(4)], "two: q -> p | "+tools[r.IntN(4)]+" "+tools[r.IntN(4)], "no: x -> x | "+tools[r.IntN(4)])
			n.Priority, n.Advisory = r.IntN(3), r.IntN(2) == 0
			if r.IntN(3) == 0 {
				n.Recovery = map[string]int{"q": 1}
			}
			nets = append(nets, n)
		}
		p := offer(t, strings.Join(tools, " "), nets...)
		for range 6 {
			a := p.Advertise(noon)
			p.shows(strings.Join(a.Tools, " "))
			yields += len(a.Ignored)
			if a.Conflict != nil {
				conflicts++
			}
			if len(a.Tools) == 0 {
				break
			}
			p.success(a.Tools[r.IntN(len(a.Tools))])
		}
		if t.Failed() {
			t.Fatalf("%+v", nets)
		}
	}
	if yields == 0 || conflicts == 0 {
		t.Errorf("%d nets yielded, %d conflicts", yields, conflicts)
	}
}
