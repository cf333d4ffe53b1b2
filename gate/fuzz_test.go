package gate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/soak"
)

// dice draws small numbers from the bytes of a fuzz input. After the last byte, it draws 0.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 {
		return 0
	}
	v := int((*d)[0]) % n
	*d = (*d)[1:]
	return v
}

func (d *dice) places(n, most int) []int {
	out := make([]int, d.roll(most+1))
	for i := range out {
		out[i] = d.roll(n)
	}
	return out
}

func (d *dice) net(name string) (gate.Net, *petri.Net, petri.Marking) {
	n := gate.Net{Name: name, Places: []string{"p", "q", "r"}, Initial: map[string]int{}, AllowUnbounded: true}
	plain, marking := &petri.Net{Places: 3}, make(petri.Marking, 3)
	for i, place := range n.Places {
		marking[i] = d.roll(3)
		n.Initial[place] = marking[i]
	}
	for i := range 1 + d.roll(5) {
		in, out := d.places(3, 3), d.places(3, 2)
		t := gate.Transition{Name: fmt.Sprint("t", i)}
		for _, p := range in {
			t.Inputs = append(t.Inputs, n.Places[p])
		}
		for _, p := range out {
			t.Outputs = append(t.Outputs, n.Places[p])
		}
		for range d.roll(3) {
			t.Tools = append(t.Tools, gate.Tool{Name: string(rune('a' + d.roll(3)))})
		}
		if flags := d.roll(16); len(t.Tools) > 0 {
			t.Manual, t.Deferred, t.Observe, t.Release = flags&1 > 0 && flags&4 == 0, flags&2 > 0, flags&4 > 0, flags&8 > 0
			t.Spoils = t.Observe && !t.Deferred && t.Release
		}
		if len(t.Tools) == 0 {
			t.Every = time.Duration(d.roll(3)) * time.Second
		}
		n.Transitions = append(n.Transitions, t)
		plain.Transitions = append(plain.Transitions, petri.Transition{In: petri.Arcs(in), Out: petri.Arcs(out)})
	}
	for range d.roll(3) {
		n.Maps = append(n.Maps, gate.Map{Tool: string(rune('a' + d.roll(3))), Field: "f", As: string(rune('a' + d.roll(3))), Match: contains(fmt.Sprint(d.roll(2)))})
	}
	return n, plain, marking
}

// FuzzSession plays random calls and results on random nets. Every displayed marking must be
// reachable, no refusal may move a net, and no call may be settled twice.
func FuzzSession(f *testing.F) {
	f.Add([]byte("0120121012012301230123012301230123012301230"))
	f.Add([]byte("\x01\x00\x00\x02\x01\x00\x01\x01\x01\x00\x02\x01\x00\x01\x02\x00\x01\x00\x01\x02\x03"))
	f.Fuzz(fuzzSession)
}

// TestRandomSessions runs the fuzz target on long inputs.
func TestRandomSessions(t *testing.T) {
	from, count := soak.Range(t, 800)
	random := rand.New(rand.NewPCG(from, 2))
	for range count {
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		fuzzSession(t, data)
	}
}

func fuzzSession(t *testing.T, data []byte) {
	d := dice(data)
	var nets []gate.Net
	var graphs []map[string]bool
	for i := range 1 + d.roll(2) {
		n, plain, marking := d.net(fmt.Sprint("n", i))
		g := reachable(plain, marking, 3000)
		if g == nil {
			return
		}
		n.Shadow = d.roll(4) == 1
		nets, graphs = append(nets, n), append(graphs, g)
	}
	policy, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		return // the net does not come to rest
	}
	r := &fuzzRun{t: t, s: gate.NewSession(policy, gate.SessionOptions{}), graphs: graphs, now: noon}
	for range 60 {
		if len(d) == 0 {
			break
		}
		r.now = r.now.Add(time.Duration(d.roll(4)) * 700 * time.Millisecond)
		r.s.Tick(r.now)
		r.step(&d)
		r.s.Tick(r.now)
		r.check()
	}
}

// reachable returns the keys of the net's reachable markings, or nil if there are more than limit.
func reachable(n *petri.Net, initial petri.Marking, limit int) map[string]bool {
	seen := map[string]bool{string(initial.AppendKey(nil)): true}
	for queue := []petri.Marking{initial}; len(queue) > 0; queue = queue[1:] {
		for i := range n.Transitions {
			if !n.Transitions[i].Enabled(queue[0]) {
				continue
			}
			m := slices.Clone(queue[0])
			n.Transitions[i].Fire(m)
			if key := string(m.AppendKey(nil)); !seen[key] {
				seen[key] = true
				queue = append(queue, m)
			}
		}
		if len(seen) > limit {
			return nil
		}
	}
	return seen
}

type fuzzRun struct {
	t      *testing.T
	s      *gate.Session
	graphs []map[string]bool // reachable markings by net
	open   []*gate.Ticket
	now    time.Time
}

func (r *fuzzRun) step(d *dice) {
	switch d.roll(8) {
	case 0, 1, 2, 3:
		r.call(d)
	case 4, 5, 6:
		if len(r.open) == 0 {
			return
		}
		i := d.roll(len(r.open))
		o := gate.Outcome(d.roll(3))
		settle := func() bool { return r.open[i].SettleAt(o, r.now) }
		if d.roll(4) == 1 {
			settle = func() bool { return r.open[i].Settle(o) }
		}
		settle()
		before := r.s.Status()
		if settle() || r.s.Status() != before {
			r.t.Fatalf("settled twice as %d", o)
		}
		if o != gate.Unknown {
			r.open = append(r.open[:i], r.open[i+1:]...)
		}
	default:
		if name := fmt.Sprint("n", d.roll(2)); r.s.Activate(name) != nil {
			_ = r.s.Deactivate(name)
		}
	}
}

func (r *fuzzRun) call(d *dice) {
	before := r.s.Status()
	c := gate.Call{Tool: string(rune('a' + d.roll(3))), Time: r.now}
	c.Args = []byte([]string{``, `{"f":"0"}`, `{"f":"01"}`, `{"f":["0",1]}`}[d.roll(4)])
	answer := r.s.Decide(c, nil)
	if a, ok := answer.(*gate.Ask); ok {
		if r.s.Status() != before {
			r.t.Fatal("a question moved a net")
		}
		answer = r.s.Decide(c, a.Grant())
	}
	switch answer := answer.(type) {
	case *gate.Allow:
		r.open = append(r.open, answer.Ticket)
	case *gate.Refusal:
		if r.s.Status() != before {
			r.t.Fatal("a refusal moved a net")
		}
	default:
		r.t.Fatalf("%T", answer)
	}
}

func (r *fuzzRun) check() {
	for i, n := range r.s.Nets() {
		r.checkMarking(i, n.Name, n.Marking)
		if n.Shadow {
			r.checkMarking(i, n.Name, n.Enforced)
		}
	}
	if len(r.s.Open()) != len(r.open) {
		r.t.Fatalf("%d calls are open, want %d", len(r.s.Open()), len(r.open))
	}
}

func (r *fuzzRun) checkMarking(net int, name string, shown gate.Marking) {
	m := make(petri.Marking, len(shown))
	for place, tokens := range shown {
		m[place] = tokens.Count
		if tokens.InFlight < 0 || tokens.InFlight > tokens.Count {
			r.t.Fatalf("%s: %+v", name, tokens)
		}
	}
	if !r.graphs[net][string(m.AppendKey(nil))] {
		r.t.Fatalf("%s cannot reach %s", name, shown)
	}
}
