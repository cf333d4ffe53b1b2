package gate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// pass decides a call on s, applies the change, and returns the call's number.
func pass(t *testing.T, s *gate.State, c gate.Call) uint64 {
	t.Helper()
	d, delta := s.Policy().Decide(s, c, nil)
	s.Apply(delta)
	a, ok := d.(*gate.Allow)
	if !ok {
		t.Fatalf("%s: %+v, want allow", c.Tool, d)
	}
	return a.Ticket.Number
}

// marking returns the named net's marking.
func marking(t *testing.T, s *gate.State, net string) string {
	t.Helper()
	states := s.Policy().NetsOf(s)
	i := slices.IndexFunc(states, func(n gate.NetState) bool { return n.Name == net })
	if i < 0 {
		t.Fatalf("no net %q", net)
	}
	return states[i].Marking.String()
}

// TestAdopt converts a state to another policy: an unchanged net keeps its state, a different net
// with the same name starts anew, and calls in flight move the nets that still wait for them.
func TestAdopt(t *testing.T) {
	same := handNet("same", map[string]int{"p": 1}, "d: p -> q | deploy")
	same.Transitions[0].Deferred = true
	gone := handNet("gone", map[string]int{"a": 1}, "d: a -> b | deploy")
	gone.Transitions[0].Deferred = true
	old := newPolicy(t, gone, handNet("other", map[string]int{"x": 2}, "d: x -> y | deploy"), same, handNet("quiet", map[string]int{"i": 1}, "i: i -> i | idle"))
	shadow := handNet("quiet", map[string]int{"i": 1}, "i: i -> i | idle")
	shadow.Shadow = true
	now := newPolicy(t, handNet("new", map[string]int{"n": 1}, "n: n -> n | new"), same, handNet("other", map[string]int{"x": 3}, "d: x -> y | deploy"), shadow)

	s := old.NewState(nil)
	number := pass(t, s, gate.Call{ID: "1", Tool: "deploy"})
	adopted, kept := now.Adopt(s, gate.AdoptOptions{Active: []string{"same", "other", "quiet"}, Reset: []string{"other"}})
	want := []gate.Kept{
		{Net: "new", Fate: gate.Begun},
		{Net: "same", Fate: gate.Continued},
		{Net: "other", Fate: gate.Begun, Lost: true},
		{Net: "quiet"},
		{Net: "gone", Fate: gate.Dropped, Lost: true},
	}
	if !slices.Equal(kept, want) {
		t.Errorf("kept %+v, want %+v", kept, want)
	}
	if adopted.Policy() != now || s.Policy() != old {
		t.Error("a state is of another policy than that which made it")
	}
	if m := marking(t, adopted, "same"); m != "p:1 (1 in flight)" {
		t.Errorf("same: %s", m)
	}
	if m := marking(t, adopted, "other"); m != "x:3" {
		t.Errorf("other: %s", m)
	}
	if adopted.Nets[0].Active {
		t.Error("a new net is active that was not named")
	}
	if d, _ := now.Decide(adopted, gate.Call{ID: "1", Tool: "idle"}, nil); d.(*gate.Refusal).Kind != gate.KindDuplicate {
		t.Errorf("the id of a call in flight was used again: %+v", d)
	}
	if off, _ := now.Adopt(adopted, gate.AdoptOptions{Active: []string{}}); off.Nets[1].Active || marking(t, off, "same") != "p:1 (1 in flight)" {
		t.Error("a net that goes on is active though it was not named, or has lost its state")
	}
	adopted.Apply(now.Settle(adopted, number, gate.Success))
	if m := marking(t, adopted, "same"); m != "q:1" {
		t.Errorf("same, after its call: %s", m)
	}
	if len(adopted.Open()) != 0 || len(s.Open()) != 1 {
		t.Errorf("open: %v, before: %v", adopted.Open(), s.Open())
	}
	if m := marking(t, s, "same"); m != "p:1 (1 in flight)" {
		t.Errorf("the state that was adopted has changed: %s", m)
	}
}

// TestPreparedAgain checks that a prepared call is decided on the given state, regardless of
// earlier decisions on other states.
func TestPreparedAgain(t *testing.T) {
	slow := handNet("slow", map[string]int{"t": 0}, "use: t -> u | a", "tick: u -> t |")
	slow.Transitions[1].Every = time.Minute
	p := newPolicy(t, limitNet("a", 1, "session"), approvalNet("b"), slow)
	used := p.NewState(nil)
	q := p.Prepare(gate.Call{Tool: "a", Time: time.Unix(100, 0)})
	for range 2 {
		if d, _ := q.Decide(used, nil); d.(*gate.Refusal).Blocks[0].Net != "slow" {
			t.Errorf("no token: %+v", d)
		}
	}
	fresh, _ := newPolicy(t, limitNet("a", 1, "session")).Adopt(used, gate.AdoptOptions{})
	free := fresh.Policy().Prepare(gate.Call{Tool: "a"})
	if _, ok := first(free.Decide(fresh, nil)).(*gate.Allow); !ok {
		t.Error("it is refused where a token is")
	}
}

func first(d gate.Decision, _ *gate.Delta) gate.Decision { return d }

// TestOffered checks that a prepared call's offered tools determine whether an advisory net yields,
// as those in the state do.
func TestOffered(t *testing.T) {
	net := handNet("advice", map[string]int{"p": 0}, "never: p -> p | a")
	net.Advisory = true
	p := newPolicy(t, net)
	s := p.NewState(nil)
	q := p.Prepare(gate.Call{Tool: "a"})
	if _, ok := first(q.Decide(s, nil)).(*gate.Refusal); !ok {
		t.Error("it yields though the tools are not known")
	}
	q.Offered = []gate.Call{{Tool: "a"}}
	if _, ok := first(q.Decide(s, nil)).(*gate.Allow); !ok {
		t.Error("it does not yield though it leaves no tool")
	}
}

// TestLeft checks that only limits have a number of remaining calls.
func TestLeftOf(t *testing.T) {
	p := newPolicy(t, limitNet("a", 2, "session"), blockNet("b"))
	s := p.NewState(nil)
	vs := p.Classify(s, gate.Call{Tool: "a"})
	if n, ok := p.Left(s, vs[0]); n != 2 || !ok {
		t.Errorf("%d %v", n, ok)
	}
	if _, ok := p.Left(s, gate.Verdict{Net: "no such net"}); ok {
		t.Error("a net that is not there has calls left")
	}
}
