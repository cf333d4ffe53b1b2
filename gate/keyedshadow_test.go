package gate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
)

// TestRandomKeyedAsManyInShadow compares a net with a key with one net without a key per value, all
// in shadow mode, in both worlds.
func TestRandomKeyedAsManyInShadow(t *testing.T) {
	calls, refused := 0, 0
	from, count := soak.Range(t, 200)
	for seed := from; seed < from+uint64(count); seed++ {
		m := newParted(t, rand.New(rand.NewPCG(seed, 13)))
		if m == nil {
			continue
		}
		for range 25 {
			if m.stuck() {
				break
			}
			calls++
			if m.step(); t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, m.log)
			}
		}
		refused += m.keyed.Shadow().Refused
	}
	t.Logf("%d steps, %d of them would be refused", calls, refused)
}

// parted holds a net with a key in shadow mode, a net for each value, and a net that blocks calls
// without a value.
type parted struct {
	*many
	each    *gate.State
	tickets []partedCall
	unrest  bool // a call was refused because a net would never come to rest
}

type partedCall struct {
	keyed *gate.Ticket
	each  uint64
}

func newParted(t *testing.T, r *rand.Rand) *parted {
	n := randomKeyed(r)
	n.Shadow = true
	m := &parted{many: &many{t: t, rand: r, net: n, now: time.Unix(1e9, 0)}}
	p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
	if err != nil {
		return nil
	}
	m.keyed = gate.NewSession(p, gate.SessionOptions{Time: m.now})
	var nets []gate.Net
	for _, v := range universe {
		nets = append(nets, m.of(v))
	}
	lacks := handNet("lacks", nil, "never: p -> p | lack")
	lacks.Shadow, lacks.Mapper = true, func(c gate.Call) []gate.Name {
		if m.lacks(c) {
			return []gate.Name{{Text: "lack", Certain: true}}
		}
		return nil
	}
	m.each = newPolicy(t, append(nets, lacks)...).NewState(nil)
	for _, tr := range n.Transitions {
		m.log += fmt.Sprintf("%+v\n", tr)
	}
	m.look()
	return m
}

// field returns the transition's key field.
func (m *parted) field(i int) string {
	if key := m.net.Transitions[i].Key; len(key) > 0 {
		return key[0].Path
	}
	return "path"
}

// lacks reports whether a transition gates the call but the call has no value for it.
func (m *parted) lacks(c gate.Call) bool {
	for i, tr := range m.net.Transitions {
		if len(tr.Tools) > 0 && tr.Tools[0].Name == c.Tool && !tr.Observe && len(keyContext(c, m.field(i))) == 0 {
			return true
		}
	}
	return false
}

// keyContext returns the values in a field of the arguments.
func keyContext(c gate.Call, field string) (values []string) {
	var args map[string]json.RawMessage
	_ = json.Unmarshal(c.Args, &args)
	var list []json.RawMessage
	if json.Unmarshal(args[field], &list) != nil {
		list = []json.RawMessage{args[field]}
	}
	for _, v := range list {
		if !slices.Contains(universe, string(v)) {
			return nil
		}
		values = append(values, string(v))
	}
	return values
}

// of returns the net for a value. Its names for a call encode which fields have the value, and
// which have none.
func (m *parted) of(value string) gate.Net {
	n := m.net
	n.Name, n.Key, n.Labels, n.Transitions = "of-"+value, nil, nil, slices.Clone(n.Transitions)
	has := func(c gate.Call, field string) string {
		switch values := keyContext(c, field); {
		case len(values) == 0:
			return "none"
		case slices.Contains(values, value):
			return "has"
		default:
			return "other"
		}
	}
	n.Mapper = func(c gate.Call) []gate.Name {
		return []gate.Name{{Text: c.Tool + "/" + has(c, "path") + "/" + has(c, "src"), Certain: true}}
	}
	for i := range n.Transitions {
		tr := &n.Transitions[i]
		field, tools := m.field(i), tr.Tools
		tr.Key, tr.Tools = nil, nil
		if len(tools) == 0 {
			continue
		}
		for _, path := range []string{"has", "other", "none"} {
			for _, src := range []string{"has", "other", "none"} {
				its := map[string]string{"path": path, "src": src, "ids": "has"}[field]
				if its == "has" || its == "none" && tr.Spoils {
					tr.Tools = append(tr.Tools, gate.Tool{Name: tools[0].Name + "/" + path + "/" + src})
				}
			}
		}
	}
	return n
}

// stuck reports whether any of the nets does not come to rest. Such a net refuses calls whatever its
// state, so the two worlds need not agree on it.
func (m *parted) stuck() bool {
	if m.unrest {
		return true
	}
	for _, d := range m.each.Nets {
		if d.Stuck || d.Shadow.Enforced.Stuck {
			return true
		}
	}
	return false
}

func (m *parted) look() {
	m.keyed.Tick(m.now)
	m.each.Apply(m.each.Policy().Tick(m.each, m.now))
}

func (m *parted) step() {
	m.now = m.now.Add(time.Duration(m.rand.IntN(2500)) * time.Millisecond)
	if m.rand.IntN(10) < 6 || len(m.tickets) == 0 {
		m.call()
	} else {
		m.settle()
	}
	m.compare()
}

func (m *parted) call() {
	args := map[string]json.RawMessage{}
	for _, field := range []string{"path", "src"} {
		if doc, _ := m.some(); doc != "" {
			args[field] = json.RawMessage(doc)
		}
	}
	text, _ := json.Marshal(args)
	c := gate.Call{Tool: []string{"x", "y", "z"}[m.rand.IntN(3)], Args: text, Time: m.now}
	m.look()
	d, delta := m.each.Policy().Decide(m.each, c, nil)
	m.each.Apply(delta)
	a, b := m.keyed.Decide(c, nil).(*gate.Allow), d.(*gate.Allow)
	m.say("%v %s %s: %v", m.now.Sub(time.Unix(1e9, 0)), c.Tool, text, a.Would)
	if (a.Would == nil) != (b.Would == nil) {
		m.t.Errorf("%s %s: %+v, want %+v", c.Tool, text, a.Would, b.Would)
	}
	m.unrest = a.Would != nil && strings.Contains(a.Would.Text, "never settles")
	if m.lacks(c) { // the default state watches nothing
		for i := range universe {
			m.each.Nets[i] = m.unseen(m.each.Nets[i], b.Ticket.Number)
		}
	}
	m.tickets = append(m.tickets, partedCall{a.Ticket, b.Ticket.Number})
}

func (m *parted) settle() {
	k := m.rand.IntN(len(m.tickets))
	c := m.tickets[k]
	e := gate.End{Outcome: []gate.Outcome{gate.Success, gate.Success, gate.Success, gate.Failure, gate.Unknown}[m.rand.IntN(5)], Time: m.now}
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
		m.tickets = slices.Delete(m.tickets, k, k+1)
	}
	m.say("%v settle %d: %d %s", m.now.Sub(time.Unix(1e9, 0)), c.keyed.Number, e.Outcome, e.Result)
	m.look()
	c.keyed.End(e)
	s := m.each
	for i, v := range universe {
		if !slices.Contains(found, v) {
			s.Nets[i] = m.unseen(s.Nets[i], c.each)
		}
	}
	s.Apply(s.Policy().End(s, c.each, e))
}

// unseen returns the state without the call's watches for values in its result.
func (m *parted) unseen(d *gate.NetData, number uint64) *gate.NetData {
	c := *d
	c.Watches = slices.DeleteFunc(slices.Clone(d.Watches), func(w gate.Flight) bool { return w.Call == number && m.result(w.Transition) })
	if d.Shadow != nil {
		shadow := *d.Shadow
		shadow.Enforced = m.unseen(d.Shadow.Enforced, number)
		c.Shadow = &shadow
	}
	return &c
}

func (m *parted) compare() {
	m.look()
	keyed, each := m.keyed.Snapshot(), m.each
	for i, v := range universe {
		of := keyed.Nets[0].Values.Get(v)
		if of == nil {
			of = keyed.Nets[0]
		}
		own := each.Nets[i]
		got := fmt.Sprint(of.Marking, len(of.Flights), of.Shadow.Enforced.Marking, len(of.Shadow.Enforced.Flights))
		want := fmt.Sprint(own.Marking, len(own.Flights), own.Shadow.Enforced.Marking, len(own.Shadow.Enforced.Flights))
		if got != want {
			m.t.Errorf("%s: %s, want %s\n%s", v, got, want, m.keyed.Status())
		}
	}
}
