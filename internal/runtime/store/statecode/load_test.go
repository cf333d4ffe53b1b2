package statecode_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
	"github.com/petrigate/petrigate/internal/soak"
)

func policyOf(t *testing.T, nets ...gate.Net) *gate.Policy {
	t.Helper()
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOtherPolicy: a state that was written under another policy is read as [gate.Policy.Adopt]
// converts it.
func TestOtherPolicy(t *testing.T) {
	from, count := soak.Range(t, 200)
	for seed := from; seed < from+uint64(count); seed++ {
		g := generator{rand.New(rand.NewPCG(seed, 14))}
		nets := g.nets(3)
		from, err := gate.NewPolicy(nets, gate.PolicyOptions{})
		if err != nil {
			continue
		}
		nets[0] = g.net(nets[0].Name) // another net of that name
		if g.IntN(2) == 0 {
			nets[1].Shadow = !nets[1].Shadow
		}
		nets = append(nets[g.IntN(2):], g.net("new"))
		slices.Reverse(nets)
		to, err := gate.NewPolicy(nets, gate.PolicyOptions{Shadow: g.IntN(8) == 0})
		if err != nil {
			continue
		}
		var active []string
		if g.IntN(3) == 0 {
			active = []string{nets[0].Name}
		}
		s, now := from.NewState(nil), noon
		for range 15 {
			now = now.Add(time.Duration(g.IntN(4)) * 700 * time.Millisecond)
			d, _ := g.step(from, s, now, false)
			s.Apply(d)
		}
		for _, ask := range s.Asks {
			s.Apply(&gate.Delta{Answered: ask.Number})
		}
		compareAdopted(t, seed, s, to, active)
	}
}

func compareAdopted(t *testing.T, seed uint64, s *gate.State, to *gate.Policy, active []string) {
	t.Helper()
	before, after := statecode.New(s.Policy(), nil), statecode.New(to, active)
	e := encode(t, before, s, statecode.Info{})
	got, _, kept := decode(t, after, e)
	want, fates := to.Adopt(s, gate.AdoptOptions{Active: active})
	lost := func(all []gate.Kept) (names []string) {
		for _, k := range all {
			if k.Lost {
				names = append(names, k.Net+fmt.Sprint(k.Fate))
			}
		}
		slices.Sort(names)
		return names
	}
	if kept != nil && !slices.Equal(lost(kept), lost(fates)) {
		t.Fatalf("seed %d: lost %v, want %v\n%s", seed, lost(kept), lost(fates), e)
	}
	for i, n := range to.Nets() {
		begun := !slices.ContainsFunc(kept, func(k gate.Kept) bool { return k.Net == n.Name && k.Fate == gate.Carried })
		if begun && !strings.Contains(string(e.parts[n.Scope]), fmt.Sprintf(`%q:{"print"`, n.Name)) && len(got.Open()) > 0 {
			// The net was at its start or is new; the two cannot be distinguished, so calls in
			// flight are suspects.
			got.Nets[i] = want.Nets[i]
		}
	}
	for number, c := range got.Calls { // likewise
		c.Nets, c.Keys = want.Calls[number].Nets, want.Calls[number].Keys
	}
	if g, w := encode(t, after, got, statecode.Info{}), encode(t, after, want, statecode.Info{}); !g.equal(w) {
		t.Fatalf("seed %d: read\n%s\nwant\n%s\nfrom\n%s", seed, g, w, e)
	}
}

// TestChangedLimitKeepsUses: if the number of a limit changes, its uses stay counted.
func TestChangedLimitKeepsUses(t *testing.T) {
	from, count := soak.Range(t, 100)
	for seed := from; seed < from+uint64(count); seed++ {
		g := generator{rand.New(rand.NewPCG(seed, 15))}
		forms := []string{
			"limit x to %d per session", "limit x to %d per user per hour", "limit y to %d per minute", "limit z to %d at once", "limit * to %d in a row unless w",
			"limit x to %d per session for each path", "limit y to %d of n per session", "limit w to %d per successful x with same path", "limit x to %d of n per minute for each path",
		}
		var texts [2]string
		for _, form := range forms {
			if g.IntN(2) == 0 {
				for i := range texts {
					texts[i] += fmt.Sprintf(form+"\n", 1+g.IntN(9))
				}
			}
		}
		from, err := ruled(texts[0])
		if err != nil {
			t.Fatal(err)
		}
		to, err := ruled(texts[1])
		if err != nil {
			t.Fatal(err)
		}
		s, now := from.NewState(nil), noon
		for range 20 {
			now = now.Add(time.Duration(g.IntN(4)) * 700 * time.Millisecond)
			d, _ := g.step(from, s, now, false)
			s.Apply(d)
		}
		compareAdopted(t, seed, s, to, nil)
	}
}

// TestSharedUnderOtherPolicy: calls in flight end in the nets that they move, although the part of
// a session does not contain the nets of other parts.
func TestSharedUnderOtherPolicy(t *testing.T) {
	shared := gate.Net{Name: "shared", Scope: gate.ScopePrincipal, Places: []string{"free"}, Initial: map[string]int{"free": 1},
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"free"}, Outputs: []string{"free"}, Tools: gate.Tools("x"), Deferred: true}}}
	other := shared
	other.Name, other.Scope = "other", gate.ScopeSession
	from, to := policyOf(t, shared, other), policyOf(t, shared)
	s := from.NewState(nil)
	s.Owners[gate.ScopePrincipal] = 7
	d, delta := from.Decide(s, gate.Call{Tool: "x", Time: noon}, nil)
	if _, ok := d.(*gate.Allow); !ok {
		t.Fatal(d)
	}
	s.Apply(delta)
	got, _, kept := decode(t, statecode.New(to, nil), encode(t, statecode.New(from, nil), s, statecode.Info{Owner: 7}))
	if len(kept) != 2 || kept[0] != (gate.Kept{Net: "other", Fate: gate.Dropped, Lost: true}) || kept[1] != (gate.Kept{Net: "shared"}) {
		t.Errorf("%+v", kept)
	}
	got.Apply(to.Settle(got, 1, gate.Success))
	if m := to.NetsOf(got)[0].Marking.String(); m != "free:1" || len(got.Nets[0].Flights) > 0 {
		t.Errorf("%s, %+v", m, got.Nets[0])
	}
}

// TestRowsOfRemovedNets: the rows of a removed net must be removed too.
func TestRowsOfRemovedNets(t *testing.T) {
	n := gate.Net{Name: "n", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Key: []gate.Field{{Path: "k"}},
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"p"}, Tools: gate.Tools("x")}}}
	from, to := policyOf(t, n), policyOf(t)
	s := from.NewState(nil)
	_, delta := from.Decide(s, gate.Call{Tool: "x", Args: []byte(`{"k":["a","b"]}`)}, nil)
	s.Apply(delta)
	e := encode(t, statecode.New(from, nil), s, statecode.Info{})
	l, err := statecode.New(to, nil).Session("s", e.parts[0], e.values[0])
	if want := []string{`"n""a"`, `"n""b"`}; err != nil || !slices.Equal(l.StaleRows, want) || l.RewriteValues {
		t.Errorf("%q, %t, %v", l.StaleRows, l.RewriteValues, err)
	}
	l, err = statecode.New(from, []string{}).Session("s", e.parts[0], e.values[0])
	if err != nil || len(l.StaleRows) > 0 || !l.RewriteValues || l.State.Nets[0].Values.Len() != 2 || l.State.Nets[0].Active {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestDamagedPart: unknown or damaged content is an error that names the place.
func TestDamagedPart(t *testing.T) {
	p := policyOf(t, gate.Net{Name: "n", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Key: []gate.Field{{Path: "k"}},
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"p"}, Tools: gate.Tools("x"), Deferred: true}}})
	c := statecode.New(p, nil)
	s := p.NewState(nil)
	_, delta := p.Decide(s, gate.Call{ID: "1", Tool: "x", Args: []byte(`{"k":"a"}`), Time: noon}, nil)
	s.Apply(delta)
	e := encode(t, c, s, statecode.Info{Since: noon})
	good, row := string(e.parts[0]), string(e.values[0][`"n""a"`])
	for _, c := range []struct{ old, new, row, want string }{
		{`"v":1`, `"v":3`, row, `session "s": its format is "3", but this petrigate supports formats 1 and 2: a newer one wrote it, or it is damaged`},
		{`"nets":{"n"`, `"nets":{"m"`, row, `session "s": the nets: it has the unknown member "m"`},
		{`"last":1`, `"last":0`, row, `session "s": the open calls: call #1 comes after the last call, #0`},
		{`"last":1`, `"last":-1`, row, `session "s": last: -1 is not a non-negative integer`},
		{`"last":1`, `"lost":1`, row, `session "s": the part: it has the unknown member "lost"`},
		{`"values":1`, `"values":2`, row, `session "s": net 'n': it has 1 rows for values of its key, not 2`},
		{`"values":1`, `"values":99999999999`, row, `session "s": net 'n': 99999999999 is too many`},
		{`"values":1`, `"marking":{"q":1}`, row, `session "s": net 'n': it has the unknown member "q"`},
		{`"values":1`, `"clock":[1]`, row, ``},
		{`["n","\"a\""]`, `"n","n",["n","x"]`, row, `session "s": the open calls: only some nets of a call have a value`},
		{`["n","\"a\""]`, `["n"]`, row, `session "s": the open calls: has 1 elements, not 2`},
		{`["n","\"a\""]`, `["m","\"a\""]`, row, `session "s": the open calls: a call has the unknown net "m"`},
		{`"number":1`, `"number":0`, row, `session "s": the open calls: call number 0 is invalid or used twice`},
		{`"print":"`, `"print":"0`, row, `session "s": net 'n': it has the fingerprint`},
		{``, ``, `{"flights":[["u",1,"x",null,0]]}`, `session "s": net 'n', value "a": it has no transition "u"`},
		{``, ``, `{"flights":[]}`, `session "s": net 'n', value "a": it has an empty list`},
		{``, ``, `{"shadow":{}}`, `session "s": net 'n', value "a": its shadow setting has changed; now: false`},
		{``, ``, `{"shadow":{"shadow":{}}}`, `session "s": net 'n', value "a" in shadow: it has the unknown member "shadow"`},
		{``, ``, `{"spent":["1e9",null]}`, `session "s": net 'n', value "a": "1e9" is not an amount`},
		{``, ``, `{"row":"x"}`, `session "s": net 'n', value "a": "x" is not hexadecimal`},
		{``, ``, `{"stuck":false}`, `session "s": net 'n', value "a": false is not true`},
		{``, ``, `{"clock":[1.5]}`, `session "s": net 'n', value "a": 1.5 is not a time`},
		{``, ``, `{"clock":[1,2]}`, `session "s": net 'n', value "a": it has 0 transitions with a clock, not 1`},
		{``, ``, `{"meta":{"x":{"y":[5e1]}}}`, `session "s": net 'n', value "a": its metadata is damaged`},
		{``, ``, `[]`, `session "s": net 'n', value "a": is not an object`},
		{``, ``, `{`, `session "s": net 'n', value "a": invalid JSON`},
		{`"calls":[`, `"calls":{}}`, row, `session "s": invalid JSON`},
	} {
		part := strings.Replace(good, c.old, c.new, 1)
		_, err := statecode.New(p, nil).Session("s", []byte(part), map[string][]byte{`"n""a"`: []byte(c.row)})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s -> %s, %s: %v\nwant %s", c.old, c.new, c.row, err, c.want)
		}
	}
	_, err := c.Session("s", e.parts[0], nil)
	if err == nil || err.Error() != `session "s": net 'n': it has 0 rows for values of its key, not 1` {
		t.Error(err)
	}
	for _, row := range []string{`"m""a"`, `m`} {
		_, err = c.Session("s", e.parts[0], map[string][]byte{`"n""a"`: e.values[0][`"n""a"`], row: []byte("{}")})
		if err == nil || !strings.Contains(err.Error(), "it has a row for a value of net 'm', but lacks the net") {
			t.Error(row, err)
		}
	}
}

// TestTruncatedPart: an incomplete part is refused.
func TestTruncatedPart(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 14))}
	p, err := ruled(strings.Join(statements[:8], "\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, s := statecode.New(p, nil), p.NewState(nil)
	for i := range 20 {
		d, _ := g.step(p, s, noon.Add(time.Duration(i)*time.Second), false)
		s.Apply(d)
	}
	e := encode(t, c, s, statecode.Info{Since: noon})
	for i := range e.parts[0] {
		if _, err := c.Session("s", e.parts[0][:i], e.values[0]); err == nil {
			t.Fatalf("read %s", e.parts[0][:i])
		}
		broken := slices.Clone(e.parts[0])
		broken[i] ^= byte(1 + g.IntN(255))
		_, _ = c.Session("s", broken, e.values[0]) // must not panic
	}
}

// TestUnsupportedMetaData: meta data of other types is refused.
func TestUnsupportedMetaData(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{3, "cannot store the metadata of net 'n': \"k\" has a value of type int; the supported types are string, bool, int64, uint64, float64, []any, map[string]any and nil"},
		{[]any{map[string]any{"a": struct{}{}}}, "cannot store the metadata of net 'n': \"k\" has \"a\" has a value of type struct {}"},
		{math.Inf(1), "cannot store the metadata of net 'n': \"k\" has the value +Inf, which is not finite"},
	} {
		p := policyOf(t, gate.Net{Name: "n", Places: []string{"p"}})
		s := p.NewState(nil)
		d := *s.Nets[0]
		d.Meta = gate.Meta{"k": c.v}
		s.Nets[0] = &d
		if _, err := statecode.New(p, nil).AppendSession(nil, s, statecode.Info{}, statecode.Processes{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v", c.v, err)
		}
	}
}
