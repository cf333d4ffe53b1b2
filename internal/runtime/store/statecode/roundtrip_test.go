package statecode_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/rules"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// stored is an encoded state.
type stored struct {
	parts  [3][]byte // by scope
	values [3]map[string][]byte
}

func encode(t *testing.T, c *statecode.Codec, s *gate.State, i statecode.Info) (e stored) {
	t.Helper()
	for scope := range e.parts {
		e.values[scope] = map[string][]byte{}
		var err error
		if scope := gate.Scope(scope); scope == gate.ScopeSession {
			e.parts[scope], err = c.AppendSession(nil, s, i, statecode.Processes{})
		} else {
			e.parts[scope], err = c.AppendShared(nil, s, scope)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range s.Policy().Nets() {
		for key, d := range s.Nets[i].Values.All() {
			row, err := c.AppendValue(nil, i, d)
			if err != nil {
				t.Fatal(err)
			}
			e.values[n.Scope][c.RowName(i, key)] = row
		}
	}
	return e
}

// decode decodes all parts into one state.
func decode(t *testing.T, c *statecode.Codec, e stored) (*gate.State, statecode.Info, []gate.Kept) {
	t.Helper()
	l, err := c.Session("s", e.parts[0], e.values[0])
	if err != nil {
		t.Fatalf("%v\n%s", err, e.parts[0])
	}
	for _, scope := range []gate.Scope{gate.ScopePrincipal, gate.ScopeGlobal} {
		shared, err := c.Shared(scope, "ann", e.parts[scope], e.values[scope])
		if err != nil {
			t.Fatalf("%v\n%s", err, e.parts[scope])
		}
		for i, n := range c.Policy().Nets() {
			if n.Scope == scope {
				l.State.Nets[i] = shared.State.Nets[i]
			}
		}
		l.Kept = append(l.Kept, shared.Kept...)
	}
	return l.State, l.Info, l.Kept
}

func (e stored) equal(o stored) bool {
	for i := range e.parts {
		if !bytes.Equal(e.parts[i], o.parts[i]) || !maps.EqualFunc(e.values[i], o.values[i], bytes.Equal) {
			return false
		}
	}
	return true
}

func (e stored) String() (s string) {
	for i := range e.parts {
		s += string(e.parts[i]) + "\n"
		for _, row := range slices.Sorted(maps.Keys(e.values[i])) {
			s += "  " + row + ": " + string(e.values[i][row]) + "\n"
		}
	}
	return s
}

// TestRoundTrip plays random calls on a state in memory, and on one that is written and read again
// before every step: both give the same answers, and their encodings are equal.
func TestRoundTrip(t *testing.T) {
	from, count := soak.Range(t, 120)
	for seed := from; seed < from+uint64(count); seed++ {
		g := generator{rand.New(rand.NewPCG(seed, 13))}
		p := g.policy()
		if p == nil {
			continue
		}
		play(t, g, p, fmt.Sprint("seed ", seed))
	}
}

func play(t *testing.T, g generator, p *gate.Policy, name string) {
	t.Helper()
	c := statecode.New(p, nil)
	info := statecode.Info{Principal: "ann \"x\"", Since: noon, Owner: 1 << 62, Writer: "w", Ended: true, About: `{"x":1}`}
	a := p.NewState(nil)
	a.Owners[gate.ScopePrincipal], a.Owners[gate.ScopeGlobal] = info.Owner, info.Owner
	now := noon
	a.Apply(p.Tick(a, now))
	for step := range 40 {
		e := encode(t, c, a, info)
		b, got, kept := decode(t, c, e)
		if info.Open = len(b.Calls); got != info || kept != nil {
			t.Fatalf("%s, step %d: %+v, %+v", name, step, got, kept)
		}
		b.Near = a.Near              // nor does a hint why a call did not count
		for _, ask := range a.Asks { // a question does not outlive its process
			b.Apply(&gate.Delta{Asked: ask})
		}
		if read, _, err := statecode.ReadOpen("s", e.parts[0]); err != nil || read != info {
			t.Fatalf("%s, step %d: %+v, %v", name, step, read, err)
		}
		if again := encode(t, c, b, got); !again.equal(e) {
			t.Fatalf("%s, step %d: wrote\n%s\nthen\n%s", name, step, e, again)
		}
		now = now.Add(time.Duration(g.IntN(4)) * 700 * time.Millisecond)
		da, sa := g.step(p, a, now, false)
		db, sb := g.step(p, b, now, true)
		if sa != sb {
			t.Fatalf("%s, step %d: one said\n%s\nthe other\n%s\nafter\n%s", name, step, sa, sb, e)
		}
		a.Apply(da)
		b.Apply(db)
		a.Apply(p.Tick(a, now))
		b.Apply(p.Tick(b, now))
		if ea, eb := encode(t, c, a, info), encode(t, c, b, info); !ea.equal(eb) {
			t.Fatalf("%s, step %d, %s: one is\n%s\nthe other\n%s\nafter\n%s", name, step, sa, ea, eb, e)
		}
	}
}

// generator makes random policies and steps.
type generator struct{ *rand.Rand }

// policy returns a policy with nets of all kinds, or nil if the random policy is invalid.
func (g generator) policy() *gate.Policy {
	if g.IntN(4) == 0 {
		return g.rules()
	}
	nets := g.nets(1 + g.IntN(4))
	for i := range nets {
		nets[i].Scope = gate.Scope(g.IntN(3))
	}
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{Shadow: g.IntN(8) == 0})
	if err != nil {
		return nil
	}
	return p
}

func (g generator) nets(n int) (nets []gate.Net) {
	for i := range n {
		nets = append(nets, g.net(fmt.Sprintf("n\"%d", i)))
	}
	return nets
}

var statements = []string{
	"limit x to 2 per session", "limit y to 3 per minute", "limit z to 1 at once", "limit x to 2 per user per hour", "limit x to 1 per session for each path",
	"require x before y", "require x before z since y", "limit y to 5 of n per session", "limit x to 9 of n per minute for each path", "require 2 human-approvals before z",
	"require human-approval before w after y until x", "limit * to 2 in a row unless w", "require x before z with same path", "limit x to 2 per successful y",
	"require y before z with same path as result.$.ids[*]", "limit z to 1 at once for each path", "limit w to 1 per successful x with same path",
}

func (g generator) rules() *gate.Policy {
	text := ""
	for range 1 + g.IntN(6) {
		text += statements[g.IntN(len(statements))] + "\n"
	}
	p, err := ruled(text)
	if err != nil {
		panic(err)
	}
	return p
}

// ruled returns the policy of a rules file.
func ruled(text string) (*gate.Policy, error) {
	f, errs := rules.Parse("r", []byte(text))
	if len(errs) > 0 {
		return nil, errs
	}
	c, err := rules.Compile(f)
	if err != nil {
		return nil, err
	}
	return gate.NewPolicy(c.Nets, gate.PolicyOptions{})
}

func (g generator) net(name string) gate.Net {
	n := gate.Net{
		Name: name, Places: []string{"p", "q", "r", "s\"t"}, Initial: map[string]int{}, AllowUnbounded: true,
		Shadow: g.IntN(4) == 0, Row: g.IntN(8) == 0,
	}
	if g.IntN(2) == 0 && !n.Row {
		n.Key = []gate.Field{{Path: "path"}}
	}
	if g.IntN(5) == 0 {
		n.Sum = &gate.Sum{Field: gate.Field{Path: "n"}, Most: 40, Every: time.Duration(g.IntN(2)) * time.Minute}
	}
	if g.IntN(3) == 0 {
		n.OnSuccess = func(f gate.Firing) {
			count, _ := f.Meta["count"].(int64)
			f.Meta["count"], f.Meta["last"], f.Meta["more"] = count+1, f.Name, []any{1.5, float64(2), uint64(3), nil, true, map[string]any{"k": "v\n"}}
		}
	}
	for _, p := range n.Places[:3] {
		n.Initial[p] = g.IntN(3)
	}
	for i := range 2 + g.IntN(4) {
		n.Transitions = append(n.Transitions, g.transition(&n, fmt.Sprint("t ", i)))
	}
	return n
}

func (g generator) transition(n *gate.Net, name string) gate.Transition {
	places := func() (some []string) {
		for range g.IntN(3) {
			some = append(some, n.Places[g.IntN(4)])
		}
		return some
	}
	tr := gate.Transition{Name: name, Inputs: places(), Outputs: places()}
	switch g.IntN(8) {
	case 0:
		if n.Sum == nil {
			tr.Every = time.Duration(1+g.IntN(5)) * time.Second
		}
		return tr
	case 1:
		return tr
	}
	tr.Tools = gate.Tools([]string{"x", "y", "z"}[g.IntN(3)])
	switch g.IntN(9) {
	case 0, 1, 2:
		tr.Deferred, tr.Release = true, g.IntN(3) == 0
	case 3:
		tr.Observe = true
	case 4, 5:
		tr.Observe, tr.Deferred = true, true
		if len(n.Key) > 0 && g.IntN(2) == 0 {
			tr.Key = []gate.Field{{Path: "ids", Result: true}}
		}
	case 6:
		tr.Observe, tr.Spoils = true, true
	case 7:
		tr.Manual = true
	}
	return tr
}

// step returns a random change of the state, with a description. It is deterministic for a given
// state and seed.
func (g generator) step(p *gate.Policy, s *gate.State, now time.Time, again bool) (*gate.Delta, string) {
	if !again {
		*last = *rand.NewPCG(g.Uint64(), g.Uint64())
	}
	source := *last
	r := rand.New(&source)
	open := s.Open()
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		if len(open) > 0 {
			o := open[r.IntN(len(open))]
			end := gate.End{Outcome: gate.Outcome(r.IntN(3)), Time: now, Result: []byte([]string{`{"ids":["a",1]}`, `{"ids":"b"}`, `{}`}[r.IntN(3)])}
			return p.End(s, o.Number, end), fmt.Sprint("end ", o.Number, " ", end.Outcome)
		}
	case 4:
		if r.IntN(6) == 0 {
			return p.Reset(s), "reset"
		}
	}
	c := gate.Call{ID: fmt.Sprint("id", r.IntN(12)), Tool: []string{"x", "y", "z", "w"}[r.IntN(4)], Foreign: r.IntN(9) == 0, Time: now, Also: []gate.Name{{Text: "also", Certain: true}}, Upstream: "up", Annotations: []byte(`{"a":1}`)}
	c.Args = []byte([]string{`{"path":"a","n":3}`, `{"path":["a","b"],"n":1.5}`, `{"path":1}`, `{}`, `{"path":"` + string(bytes.Repeat([]byte("long"), 80)) + `","n":7}`}[r.IntN(5)])
	d, delta := p.Decide(s, c, nil)
	said := describe(d)
	if ask, ok := d.(*gate.Ask); ok && r.IntN(4) > 0 {
		s.Apply(delta)
		d, delta = p.Decide(s, c, ask.Grant())
		said += ", then " + describe(d)
	}
	return delta, c.Tool + " " + string(c.Args) + ": " + said + fmt.Sprint(p.NetsOf(s), p.ShadowOf(s))
}

var last = new(rand.PCG) // copy that both states start the step from

func describe(d gate.Decision) string {
	switch d := d.(type) {
	case *gate.Allow:
		return fmt.Sprintf("allow %d %t %+v %+v", d.Ticket.Number, d.Ticket.Awaited, d.Nets, d.Would)
	case *gate.Ask:
		return fmt.Sprintf("ask %+v", d.Steps)
	case *gate.Refusal:
		return fmt.Sprintf("refuse %s: %s %+v", d.Kind, d.Text, d.Blocks)
	}
	return "?"
}
