package petri

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/petrigate/petrigate/internal/soak"
)

// TestDeadlocksOfTheCorpus compares the deadlock search with the nets' known results and logs how
// many states it saves.
func TestDeadlocksOfTheCorpus(t *testing.T) {
	dir, large := sharedNets, 3000
	if _, err := os.Stat(dir); err != nil {
		dir = ownNets
	}
	if os.Getenv("PETRIGATE_LARGE_NETS") != "" {
		large = 10_000_000
	}
	all, few := 0, 0
	for name, want := range readExpected(t, dir) {
		if want.States == nil || *want.States > large {
			continue
		}
		n, initial := readNet(t, dir, name).net()
		d, stop := deadlocksOf(n, initial, Options{MaxStates: large})
		if stop != Finished || d.deadlocks != *want.Deadlocks || d.states.len() > *want.States {
			t.Errorf("%s: stop %d, %d deadlocks in %d states; want %d in %d", name, stop, d.deadlocks, d.states.len(), *want.Deadlocks, *want.States)
		}
		checkTrap(t, n, initial, d)
		all, few = all+*want.States, few+d.states.len()
		t.Logf("%s: %d of %d states", name, d.states.len(), *want.States)
	}
	t.Logf("%d of %d states", few, all)
}

func deadlocksOf(n *Net, initial Marking, o Options) (*search, Stop) {
	invariants, _ := Invariants(n, initial)
	return findDeadlocks(n, initial, invariantBounds(n.Places, invariants), &o)
}

// checkTrap fires the sequence that leads into a deadlock.
func checkTrap(t *testing.T, n *Net, initial Marking, d *search) {
	t.Helper()
	if d.trapped == 0 {
		return
	}
	m, path := append(Marking(nil), initial...), d.pathToTrap()
	for _, i := range path {
		if !n.Transitions[i].Enabled(m) {
			t.Fatalf("transition %d of %v is not enabled", i, path)
		}
		n.Transitions[i].Fire(m)
	}
	for i := range n.Transitions {
		if n.Transitions[i].Enabled(m) {
			t.Fatalf("transition %d is enabled after %v", i, path)
		}
	}
}

func TestDeadlocksOfRandomNets(t *testing.T) {
	seed, rounds := soak.Range(t, 500)
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
		d, stop := deadlocksOf(n, initial, Options{})
		if stop != Finished || d.deadlocks != o.deadlocks || d.states.len() > len(o.states) {
			t.Fatalf("%+v from %v: %d deadlocks in %d states, want %d in %d", n, initial, d.deadlocks, d.states.len(), o.deadlocks, len(o.states))
		}
		checkTrap(t, n, initial, d)
	}
}

// TestDeadlocksBeyondTheBudget checks that Analyze can still decide whether a net with too many
// states has deadlocks.
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
		deadlocks int
	}{{free, 0}, {stuck, 1}} {
		o := Options{MaxStates: 1000}
		a := Analyze(c.n, initial, o)
		if a.Stop != StopStates || a.Trapped != c.deadlocks || a.Deadlocks != c.deadlocks || len(a.Trap) > 0 != (c.deadlocks > 0) {
			t.Errorf("stop %d, %d deadlocks, %d traps, %v", a.Stop, a.Deadlocks, a.Trapped, a.Trap)
		}
		if d, stop := deadlocksOf(c.n, initial, o); stop != Finished || d.states.len() > 100 {
			t.Errorf("stop %d after %d states", stop, d.states.len())
		}
	}
	if a := Analyze(stuck, initial, Options{MaxStates: 1000, Continue: func(int) bool { return false }}); a.Stop != StopAsked || a.Deadlocks != 0 {
		t.Errorf("stop %d, %d deadlocks though it was stopped", a.Stop, a.Deadlocks)
	}
	if a := Analyze(stuck, initial, Options{MaxStates: 10}); a.Stop != StopStates || a.Trap != nil {
		t.Errorf("stop %d, trap %v", a.Stop, a.Trap)
	}
}
