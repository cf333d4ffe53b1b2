package gate_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

func TestOutcomes(t *testing.T) {
	pipeline := func(flags string) gate.Net {
		return handNet("n", map[string]int{"idle": 1}, "build: idle -> built "+flags+" | build")
	}
	for _, c := range []struct {
		name     string
		net      gate.Net
		outcomes string
		want     string
		open     int
	}{
		{"open", pipeline("[deferred]"), "", "idle:1 (1 in flight)", 1},
		{"success", pipeline("[deferred]"), "s", "built:1", 0},
		{"failure", pipeline("[deferred]"), "f", "idle:1", 0},
		{"unknown", pipeline("[deferred]"), "u", "idle:1 (1 in flight)", 1},
		{"late success", pipeline("[deferred]"), "us", "built:1", 0},
		{"late failure", pipeline("[deferred]"), "uf", "idle:1", 0},
		{"released", pipeline("[deferred] [release]"), "u", "idle:1", 1},
		{"released for good", pipeline("[deferred] [release]"), "us", "idle:1", 0},
		{"immediate fails", pipeline(""), "f", "built:1", 0},
		{"observer", pipeline("[observe]"), "f", "built:1", 0},
		{"watch", pipeline("[deferred] [observe]"), "", "idle:1", 1},
		{"watch succeeds", pipeline("[deferred] [observe]"), "s", "built:1", 0},
		{"watch fails", pipeline("[deferred] [observe]"), "f", "idle:1", 0},
		{"watch unknown", pipeline("[deferred] [observe]"), "us", "idle:1", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, gate.PolicyOptions{}, c.net)
			ticket := p.allow("build").Ticket
			for _, o := range c.outcomes {
				outcome := map[rune]gate.Outcome{'s': gate.Success, 'f': gate.Failure, 'u': gate.Unknown}[o]
				if !ticket.Settle(outcome) {
					t.Errorf("%c changed nothing", o)
				}
				if ticket.Settle(outcome) {
					t.Errorf("%c counted twice", o)
				}
			}
			p.status("n (active): " + c.want)
			if len(p.Open()) != c.open {
				t.Errorf("open: %v", p.Open())
			}
			if c.open == 0 && (ticket.Settle(gate.Failure) || ticket.Settle(gate.Success)) {
				t.Error("settled twice")
			}
		})
	}
}

func TestSettleOfNothing(t *testing.T) {
	p := play(t, gate.PolicyOptions{})
	if p.Settle(1, gate.Success) || p.allow("x").Ticket.Settle(9) {
		t.Error("settled what is not there")
	}
}

func TestCredit(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sequenceNet("backup", "delete"))
	first, second := p.allow("backup").Ticket, p.allow("backup").Ticket
	first.Settle(gate.Success)
	p.success("delete")
	second.Settle(gate.Success)
	p.refuse("delete", gate.KindBlocked, "require-backup-before-delete")
}

func TestWatchesEndWithTheNet(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sequenceNet("backup", "delete"))
	backup := p.allow("backup").Ticket
	if p.Deactivate("require-backup-before-delete") != nil || p.Activate("require-backup-before-delete") != nil {
		t.Fatal("cannot switch the net")
	}
	backup.Settle(gate.Success)
	p.refuse("delete", gate.KindBlocked, "require-backup-before-delete")
}

func TestSeveralWatchesOfOneCall(t *testing.T) {
	n := handNet("n", map[string]int{"a": 1, "b": 1}, "first: a -> x [deferred] [observe] | one", "second: a -> y [deferred] [observe] | two", "third: b -> z [deferred] [observe] | three")
	p := play(t, gate.PolicyOptions{}, twoNames(n, "one", "two", "three"))
	p.success("call")
	p.status("n (active): x:1, z:1")
}

// A watch does not fire if another call holds its transition's tokens.
func TestAWatchNeedsItsTokens(t *testing.T) {
	n := handNet("n", map[string]int{"a": 1}, "hold: a -> b [deferred] | hold", "see: a -> c [deferred] [observe] | see")
	p := play(t, gate.PolicyOptions{}, n)
	see := p.allow("see").Ticket
	p.allow("hold")
	see.Settle(gate.Success)
	p.status("n (active): a:1 (1 in flight)")
}

func TestDeferredEndsAWatch(t *testing.T) {
	n := handNet("n", map[string]int{"a": 1}, "hold: a -> b [deferred] | hold", "see: a -> c [deferred] [observe] | see", "back: b -> a | back")
	p := play(t, gate.PolicyOptions{}, n)
	see := p.allow("see").Ticket
	p.success("hold")
	p.allow("back")
	see.Settle(gate.Success)
	p.status("n (active): a:1")
}

func TestInactiveNetsSettle(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"idle": 1}, "build: idle -> built [deferred] | build", "next: built -> done"))
	build := p.allow("build").Ticket
	if err := p.Deactivate("n"); err != nil {
		t.Fatal(err)
	}
	p.status("n (inactive): idle:1 (1 in flight)")
	build.Settle(gate.Success)
	p.status("n (inactive): done:1")
}

func TestStructuralCompetition(t *testing.T) {
	// While the call is in flight, only t could move; but had the call never been made, t and u
	// would compete and neither would fire.
	n := handNet("n", map[string]int{"q": 1}, "t: p -> a", "u: p q -> b", "hold: q -> c [deferred] | hold", "give: -> p | give")
	n.AllowUnbounded = true
	p := play(t, gate.PolicyOptions{}, n)
	hold := p.allow("hold").Ticket
	p.allow("give")
	p.status("n (active): p:1, q:1 (1 in flight)")
	hold.Settle(gate.Failure)
	p.status("n (active): p:1, q:1")

	hold = p.allow("hold").Ticket
	hold.Settle(gate.Success)
	p.status("n (active): a:1, c:1")
}

// TestStructuralRounds checks that a transition enabled by a firing waits for the next round, so
// that declaration order never decides between competing transitions.
func TestStructuralRounds(t *testing.T) {
	initial := map[string]int{"p": 1, "q": 2}
	for _, c := range []struct {
		name, want  string
		transitions []string
	}{
		{"enabled in this round", "s:2, p:1", []string{"t0: q -> s", "t2: p s -> ", "t3: p s -> p"}},
		{"enabled in this round, alone", "s:1", []string{"t0: q -> s", "t2: p s -> "}},
		{"a clash of three", "a:1, b:1", []string{"t: p -> a", "u: p -> b", "v: p -> c"}},
	} {
		n := handNet("n", initial, c.transitions...)
		if c.name == "a clash of three" {
			n.Initial = map[string]int{"p": 2}
		}
		p := play(t, gate.PolicyOptions{}, n)
		if got := p.Nets()[0].Marking.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAFailureLetsTheNetAdvance(t *testing.T) {
	n := handNet("n", map[string]int{"q": 1}, "u: p q -> b", "hold: q -> c [deferred] | hold", "give: s -> p | give")
	n.Initial["s"] = 1
	p := play(t, gate.PolicyOptions{}, n)
	hold := p.allow("hold").Ticket
	p.allow("give")
	p.status("n (active): p:1, q:1 (1 in flight)")
	hold.Settle(gate.Failure)
	p.status("n (active): b:1")
}

func TestOnSuccess(t *testing.T) {
	n := handNet("n", map[string]int{"p": 2}, "do: p -> q [deferred] | backup", "see: p -> p [deferred] [observe] | look")
	n.OnSuccess = func(f gate.Firing) {
		if len(f.Call.Args) == 0 {
			f.Meta["lost"] = true
			panic("out of order")
		}
		paths, _ := f.Meta["paths"].([]string)
		f.Meta["paths"] = append(paths[:len(paths):len(paths)], f.Transition+" "+f.Name+" "+string(f.Call.Args)+" "+f.Marking.String())
	}
	p := play(t, gate.PolicyOptions{}, n)
	p.allow("backup /a").Ticket.Settle(gate.Failure)
	p.success("backup /b")
	p.success("look /c")
	p.success("backup")
	meta := p.Nets()[0].Meta
	paths, _ := meta["paths"].([]string)
	if got := strings.Join(paths, "; "); got != "do backup /b p:1, q:1; see look /c p:1, q:1" || len(meta) != 1 {
		t.Errorf("meta %v", meta)
	}
	p.status("n (active): q:2")
}
