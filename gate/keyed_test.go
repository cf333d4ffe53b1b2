package gate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

// TestRandomKeyedAsMany compares a net with a key with several nets without a key, one per value.
func TestRandomKeyedAsMany(t *testing.T) {
	nets, steps := 0, 0
	from, count := soak.Range(t, 700)
	for seed := from; seed < from+uint64(count); seed++ {
		m := newMany(t, rand.New(rand.NewPCG(seed, 12)))
		if m == nil {
			continue
		}
		nets++
		for range 30 {
			if m.stuck() {
				break
			}
			steps++
			if m.step(); t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, m.log)
			}
		}
	}
	t.Logf("%d nets, %d steps", nets, steps)
}

var universe = []string{`"a"`, `"b"`, `3`}

// many holds a net with a key and, for each value, a net without a key.
type many struct {
	t     *testing.T
	rand  *rand.Rand
	net   gate.Net
	keyed *gate.Session
	one   map[string]*gate.State
	open  []manyCall
	now   time.Time
	log   string
}

type manyCall struct {
	ticket *gate.Ticket
	ones   map[string]uint64
}

func newMany(t *testing.T, r *rand.Rand) *many {
	m := &many{t: t, rand: r, net: randomKeyed(r), one: make(map[string]*gate.State), now: time.Unix(1e9, 0)}
	p, err := gate.NewPolicy([]gate.Net{m.net}, gate.PolicyOptions{})
	if err != nil {
		return nil
	}
	m.keyed = gate.NewSession(p, gate.SessionOptions{Time: m.now})
	for _, v := range universe {
		m.one[v] = m.without(nil).NewState(nil)
	}
	for _, tr := range m.net.Transitions {
		m.log += fmt.Sprintf("%+v\n", tr)
	}
	m.tick()
	return m
}

// TestHeldTokensKeepWatch checks that tokens held by a later call do not end a watch whose key is
// read from the result.
func TestHeldTokensKeepWatch(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1, "r": 1},
		"hold: p -> [deferred] | hold", "step: r -> [deferred] | step", "seen: p -> q [deferred] [observe] | look")
	n.Key, n.Transitions[2].Key = []gate.Field{{Path: "path"}}, []gate.Field{{Path: "ids", Result: true}}
	for _, c := range []struct{ first, second, want string }{
		{"look {}", `hold {"path":"a"}`, "n (active): p:1, r:1 for each path; a: r:1 (1 in flight), q:1"},
		{`hold {"path":"a"}`, "look {}", "n (active): p:1, r:1 for each path; a: p:1, r:1 (1 in flight)"}, // the watch never started for a
	} {
		p := play(t, gate.PolicyOptions{}, n)
		first := p.allow(c.first).Ticket
		second := p.allow(c.second).Ticket
		look, hold := first, second
		if c.first != "look {}" {
			look, hold = second, first
		}
		p.allow(`step {"path":"a"}`)
		hold.Settle(gate.Failure)
		look.End(gate.End{Outcome: gate.Success, Result: []byte(`{"ids":["a"]}`)})
		p.status(c.want)
	}
}

// TestApprovedCallWatchesLate checks that a call that waited for approval does not count for a key
// value whose tokens were held when the call was admitted, although the other call has a higher
// number.
func TestApprovedCallWatchesLate(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1, "r": 1},
		"hold: p -> [deferred] | hold", "step: r -> [deferred] | step", "seen: p -> q [deferred] [observe] | look", "use: q -> | use")
	n.Key, n.Transitions[2].Key = []gate.Field{{Path: "path"}}, []gate.Field{{Path: "ids", Result: true}}
	for _, shadow := range []bool{false, true} {
		n.Shadow = shadow
		p := play(t, gate.PolicyOptions{}, n, handNet("a", map[string]int{"x": 1}, "ok: x -> x [manual] | look"))
		ask := p.ask("look {}")
		hold := p.allow(`hold {"path":"a"}`).Ticket
		look := p.allowCall(gate.Call{Tool: "look", Args: []byte("{}")}, ask.Grant()).Ticket
		p.allow(`step {"path":"a"}`)
		hold.Settle(gate.Failure)
		look.End(gate.End{Outcome: gate.Success, Result: []byte(`{"ids":["a"]}`)})
		d := p.Decide(call(`use {"path":"a"}`), nil)
		if a, ok := d.(*gate.Allow); ok != shadow || shadow && a.Would == nil {
			t.Errorf("shadow %v: %+v", shadow, d)
		}
	}
}

func randomKeyed(r *rand.Rand) gate.Net {
	n := gate.Net{Name: "n", Places: []string{"p", "q", "r", "s"}, Initial: map[string]int{}, AllowUnbounded: true, Key: []gate.Field{{Path: "path"}}}
	if r.IntN(4) == 0 {
		n.Labels = &gate.Labels{}
	}
	for _, p := range n.Places[:3] {
		n.Initial[p] = r.IntN(3)
	}
	places := func() (some []string) {
		for range r.IntN(3) {
			some = append(some, n.Places[r.IntN(4)])
		}
		return some
	}
	for i := range 2 + r.IntN(4) {
		tr := gate.Transition{Name: fmt.Sprint("t", i), Inputs: places(), Outputs: places()}
		switch r.IntN(10) {
		case 0:
			tr.Every = time.Duration(1+r.IntN(5)) * time.Second
			n.Transitions = append(n.Transitions, tr)
			continue
		case 1:
			n.Transitions = append(n.Transitions, tr)
			continue
		}
		tr.Tools = gate.Tools([]string{"x", "y", "z"}[r.IntN(3)])
		switch r.IntN(8) {
		case 0:
		case 1, 2:
			tr.Deferred = true
			tr.Release = r.IntN(3) == 0
		case 3:
			tr.Observe = true
		case 4:
			tr.Observe, tr.Deferred = true, true
		case 5:
			tr.Observe, tr.Spoils = true, true
		default:
			tr.Observe, tr.Deferred = true, true
			tr.Key = []gate.Field{{Path: "ids", Result: true}}
		}
		if tr.Key == nil && r.IntN(3) == 0 {
			tr.Key = []gate.Field{{Path: "src"}}
		}
		n.Transitions = append(n.Transitions, tr)
	}
	return n
}

// result reports whether the transition's key is in the result.
func (m *many) result(i int) bool {
	key := m.net.Transitions[i].Key
	return len(key) > 0 && key[0].Result
}

// without returns the net without a key. Only the given transitions list their tools.
func (m *many) without(about func(t int) bool) *gate.Policy {
	n := m.net
	n.Key, n.Transitions = nil, slices.Clone(n.Transitions)
	for i := range n.Transitions {
		tr := &n.Transitions[i]
		tr.Key = nil
		if len(tr.Tools) > 0 && about != nil && !about(i) {
			tr.Tools = gate.Tools("nobody")
		}
	}
	p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

// stuck reports whether any of the nets does not come to rest. Such nets are not compared, because
// they may differ for values that no call has.
func (m *many) stuck() bool {
	for _, s := range m.one {
		if s.Nets[0].Stuck {
			return true
		}
	}
	return false
}

func (m *many) tick() {
	for _, s := range m.one {
		s.Apply(s.Policy().Tick(s, m.now))
	}
}

func (m *many) say(format string, args ...any) { m.log += fmt.Sprintf(format+"\n", args...) }

func (m *many) step() {
	m.now = m.now.Add(time.Duration(m.rand.IntN(2500)) * time.Millisecond)
	switch k := m.rand.IntN(10); {
	case k < 6 || len(m.open) == 0:
		m.call()
	default:
		m.settle()
	}
	m.compare()
}

// partly is a list with an unreadable element.
const partly = `["a",null]`

// some returns some values as JSON, in one of the forms that a call can use.
func (m *many) some() (doc string, values []string) {
	switch k := m.rand.IntN(8); {
	case k == 0:
		return "", nil
	case k == 1:
		return []string{"null", "{}", "[]", partly}[m.rand.IntN(4)], nil
	case k < 6:
		v := universe[m.rand.IntN(3)]
		return v, []string{v}
	default:
		for _, i := range m.rand.Perm(3)[:1+m.rand.IntN(3)] {
			values = append(values, universe[i])
		}
		doc = "["
		for i, v := range values {
			if i > 0 {
				doc += ","
			}
			doc += v
		}
		return doc + "]", values
	}
}

func (m *many) call() {
	carried := make(map[string][]string)
	args := map[string]json.RawMessage{}
	for _, field := range []string{"path", "src"} {
		doc, values := m.some()
		if doc != "" {
			args[field] = json.RawMessage(doc)
		}
		carried[field] = values
	}
	text, _ := json.Marshal(args)
	c := gate.Call{Tool: []string{"x", "y", "z"}[m.rand.IntN(3)], Args: text, Time: m.now}
	m.tick()
	of := func(t int) []string {
		if key := m.net.Transitions[t].Key; len(key) > 0 {
			return carried[key[0].Path]
		}
		return carried["path"]
	}
	lists := func(t int) bool {
		tools := m.net.Transitions[t].Tools
		return len(tools) > 0 && tools[0].Name == c.Tool
	}
	allowed := true
	for i, tr := range m.net.Transitions {
		if lists(i) && !tr.Observe && len(of(i)) == 0 {
			allowed = false
		}
	}
	deltas, numbers := make(map[string]*gate.Delta), make(map[string]uint64)
	for v, s := range m.one {
		p := m.without(func(t int) bool {
			return m.result(t) || slices.Contains(of(t), v) || m.net.Transitions[t].Spoils && len(of(t)) == 0
		})
		d, delta := p.Decide(s, c, nil)
		if a, ok := d.(*gate.Allow); ok {
			deltas[v], numbers[v] = delta, a.Ticket.Number
		} else {
			allowed = false
		}
	}
	d := m.keyed.Decide(c, nil)
	a, ok := d.(*gate.Allow)
	m.say("%v %s %s: %t", m.now.Sub(time.Unix(1e9, 0)), c.Tool, text, ok)
	if ok != allowed {
		m.t.Errorf("%s %s: %+v, want allowed: %t", c.Tool, text, d, allowed)
	}
	if !ok || !allowed {
		return
	}
	for v, s := range m.one {
		s.Apply(deltas[v])
	}
	m.open = append(m.open, manyCall{a.Ticket, numbers})
}

func (m *many) settle() {
	k := m.rand.IntN(len(m.open))
	c := m.open[k]
	e := gate.End{Outcome: gate.Outcome(m.rand.IntN(3)), Time: m.now}
	if m.rand.IntN(2) == 0 {
		e.Outcome = gate.Success
	}
	var found []string
	if e.Outcome == gate.Success && m.rand.IntN(5) > 0 {
		var doc string
		if doc, found = m.some(); doc != "" {
			e.Result = []byte(`{"ids":` + doc + `}`)
		}
		if doc == partly { // each element alone is evidence
			found = []string{`"a"`}
		}
	}
	if e.Outcome != gate.Unknown {
		m.open = slices.Delete(m.open, k, k+1)
	}
	m.say("%v settle %d: %d %s", m.now.Sub(time.Unix(1e9, 0)), c.ticket.Number, e.Outcome, e.Result)
	m.tick()
	c.ticket.End(e)
	for v, s := range m.one {
		number := c.ones[v]
		if !slices.Contains(found, v) {
			d := *s.Nets[0]
			d.Watches = slices.DeleteFunc(slices.Clone(d.Watches), func(w gate.Flight) bool { return w.Call == number && m.result(w.Transition) })
			s.Nets[0] = &d
		}
		s.Apply(s.Policy().SettleAt(s, number, e.Outcome, m.now))
	}
}

func (m *many) compare() {
	m.tick()
	keyed := m.keyed.Snapshot()
	keyed.Apply(keyed.Policy().Tick(keyed, m.now))
	for _, v := range universe {
		of := keyed.Nets[0].Values.Get(v)
		if of == nil {
			of = keyed.Nets[0]
		}
		own := m.one[v].Nets[0]
		watches := slices.DeleteFunc(slices.Clone(own.Watches), func(w gate.Flight) bool { return m.result(w.Transition) })
		got := of.Watches
		if of == keyed.Nets[0] {
			got = nil
		}
		if !slices.Equal(of.Marking, own.Marking) || of.Stuck != own.Stuck || len(of.Flights) != len(own.Flights) || len(got) != len(watches) {
			m.t.Errorf("%s: %v %d %d, want %v %d %d\n%s", v, of.Marking, len(of.Flights), len(got), own.Marking, len(own.Flights), len(watches), m.keyed.Status())
		}
	}
}
