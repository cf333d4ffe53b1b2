package petri

import (
	"math/rand/v2"
	"os"
	"testing"
)

// TestDeadlocksOfTheCorpus compares the search for deadlocks with what is known
// of the nets, and says what it saves.
func TestDeadlocksOfTheCorpus(t *testing.T) {
	dir, large := sharedNets, 10_000
	if _, err := os.Stat(dir); err != nil {
		dir = ownNets
	}
	switch {
	case os.Getenv("PETRIGATE_LARGE_NETS") != "":
		large = 10_000_000
	case testing.Short():
		large = 3000
	}
	all, few := 0, 0
	for name, want := range readExpected(t, dir) {
		if want.States == nil || *want.States > large {
			continue
		}
		n, initial := readNet(t, dir, name).net()
		d := deadlocksOf(n, initial, Options{MaxStates: large})
		if d.Stop != Finished || d.Count != *want.Deadlocks || d.States > *want.States {
			t.Errorf("%s: stop %d, %d deadlocks in %d states; want %d in %d", name, d.Stop, d.Count, d.States, *want.Deadlocks, *want.States)
		}
		checkTrap(t, n, initial, d)
		all, few = all+*want.States, few+d.States
		t.Logf("%s: %d of %d states", name, d.States, *want.States)
	}
	t.Logf("%d of %d states", few, all)
}

func deadlocksOf(n *Net, initial Marking, o Options) *deadlocks {
	invariants, _ := Invariants(n, initial)
	return findDeadlocks(n, initial, invariantBounds(n.Places, invariants), &o)
}

// checkTrap fires what leads into a deadlock.
func checkTrap(t *testing.T, n *Net, initial Marking, d *deadlocks) {
	t.Helper()
	if d.Trapped == 0 {
		return
	}
	m := append(Marking(nil), initial...)
	for _, i := range d.Trap {
		if !n.Transitions[i].Enabled(m) {
			t.Fatalf("transition %d of %v is not enabled", i, d.Trap)
		}
		n.Transitions[i].Fire(m)
	}
	for i := range n.Transitions {
		if n.Transitions[i].Enabled(m) {
			t.Fatalf("transition %d is enabled after %v", i, d.Trap)
		}
	}
}

func TestDeadlocksOfRandomNets(t *testing.T) {
	seed, rounds := soakRange(t, 750)
	r := rand.New(rand.NewPCG(seed, 7))
	for range rounds {
		n, initial := &Net{Places: 2 + r.IntN(5)}, Marking{}
		for range n.Places {
			initial = append(initial, r.IntN(3))
		}
		for range 1 + r.IntN(6) {
			var in, out []int
			for range r.IntN(4) {
				in = append(in, r.IntN(n.Places))
			}
			for range r.IntN(4) {
				out = append(out, r.IntN(n.Places))
			}
			n.Transitions = append(n.Transitions, trans(in, out))
		}
		o := enumerate(n, initial, 2000)
		if o == nil {
			continue
		}
		d := deadlocksOf(n, initial, Options{})
		if d.Stop != Finished || d.Count != o.deadlocks || d.States > len(o.states) {
			t.Fatalf("%+v from %v: %d deadlocks in %d states, want %d in %d", n, initial, d.Count, d.States, o.deadlocks, len(o.states))
		}
		checkTrap(t, n, initial, d)
	}
}

// TestDeadlocksBeyondTheBudget checks that a net with too many states is still
// known to be free of deadlocks, or not.
func TestDeadlocksBeyondTheBudget(t *testing.T) {
	free, stuck := &Net{}, &Net{}
	var initial Marking
	for range 12 { // each runs in a circle of three, or into its end
		p := free.Places
		free.Places += 3
		initial = append(initial, 1, 0, 0)
		free.Transitions = append(free.Transitions, trans([]int{p}, []int{p + 1}), trans([]int{p + 1}, []int{p + 2}), trans([]int{p + 2}, []int{p}))
		stuck.Transitions = append(stuck.Transitions, trans([]int{p}, []int{p + 1}), trans([]int{p + 1}, []int{p + 2}))
	}
	stuck.Places = free.Places
	for _, c := range []struct {
		n         *Net
		want      Answer
		deadlocks int
	}{{free, No, 0}, {stuck, Yes, 1}} {
		a := Analyze(c.n, initial, Options{MaxStates: 1000})
		if a.Stop != StopStates || a.Traps != c.want || a.Deadlocks != c.deadlocks || a.Reduced > 100 {
			t.Errorf("stop %d, traps %d, %d deadlocks, %d states", a.Stop, a.Traps, a.Deadlocks, a.Reduced)
		}
	}
	if a := Analyze(free, initial, Options{MaxStates: 1000, Continue: func(int) bool { return false }}); a.Traps != Unknown {
		t.Errorf("traps %d though it was stopped", a.Traps)
	}
	if a := Analyze(stuck, initial, Options{MaxStates: 10}); a.Traps != Unknown || a.Reduced != 10 {
		t.Errorf("traps %d, %d states", a.Traps, a.Reduced)
	}
}
