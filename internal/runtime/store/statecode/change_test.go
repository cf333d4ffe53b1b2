package statecode_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
	"github.com/petrigate/petrigate/internal/soak"
)

// TestMerge plays random calls: the first part, merged with all later changes, equals the last
// part.
func TestMerge(t *testing.T) {
	from, count := soak.Range(t, 200)
	for seed := from; seed < from+uint64(count); seed++ {
		g := generator{rand.New(rand.NewPCG(seed, 31))}
		if p := g.policy(); p != nil {
			merge(t, g, p, fmt.Sprint("seed ", seed))
		}
	}
}

func merge(t *testing.T, g generator, p *gate.Policy, name string) {
	t.Helper()
	c := statecode.New(p, nil)
	info := statecode.Info{Principal: "ann", Since: noon, Owner: 7, Writer: "w", About: `{"x":"\n"}`}
	s := p.NewState(nil)
	s.Apply(p.Tick(s, noon))
	first := encode(t, c, s, info)
	var changes [3][][]byte
	for step := range 40 {
		delta, said := g.step(p, s, noon, false)
		changed := note(delta)
		s.Apply(delta)
		info.Ended = info.Ended || g.IntN(50) == 0
		for scope := range changes {
			changes[scope] = append(changes[scope], change(t, c, s, info, gate.Scope(scope), changed))
		}
		now := encode(t, c, s, info)
		for scope := range changes {
			got, err := statecode.Merge(first.parts[scope], changes[scope])
			if err != nil || !sameParts(got, now.parts[scope]) {
				t.Fatalf("%s, step %d, %s: %v\n%s\nis merged as\n%s\nand is\n%s", name, step, said, err, first.parts[scope], got, now.parts[scope])
			}
			if g.IntN(9) == 0 { // the part in the checkpoint
				first.parts[scope], changes[scope] = got, changes[scope][:0]
			}
		}
	}
}

// note records the changes of a delta.
func note(d *gate.Delta) (c statecode.Change) {
	if d == nil {
		return c
	}
	for i := range d.Nets {
		c.Nets = append(c.Nets, d.Nets[i].Net)
	}
	if d.Closed != 0 {
		c.Calls = append(c.Calls, d.Closed)
	}
	if d.Opened != nil {
		c.Calls = append(c.Calls, d.Opened.Number)
	}
	c.Spent = d.Spent != 0
	return c
}

func change(t *testing.T, c *statecode.Codec, s *gate.State, i statecode.Info, scope gate.Scope, changed statecode.Change) []byte {
	t.Helper()
	nets := changed.Nets
	changed.Nets = nil
	for _, n := range nets {
		if s.Policy().Nets()[n].Scope == scope {
			changed.Nets = append(changed.Nets, n)
		}
	}
	var data []byte
	var err error
	if scope == gate.ScopeSession {
		data, err = c.AppendSessionChange(nil, s, i, statecode.Processes{}, &changed)
	} else {
		data, err = c.AppendSharedChange(nil, s, &changed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sameParts compares parts, ignoring the order of their nets.
func sameParts(a, b []byte) bool {
	x, y := membersOf(a), membersOf(b)
	for key := range x {
		if key == "nets" {
			p, q := membersOf([]byte(x[key])), membersOf([]byte(y[key]))
			for name := range p {
				if p[name] != q[name] {
					return false
				}
			}
			if len(p) != len(q) {
				return false
			}
			continue
		}
		if x[key] != y[key] {
			return false
		}
	}
	return len(x) == len(y) && bytes.Equal(a[:4], b[:4])
}

func membersOf(object []byte) map[string]string {
	all := map[string]string{}
	rawjson.Members(object, func(key, value []byte, _ int) bool {
		all[string(key)] = string(value)
		return true
	})
	return all
}

// TestMergeBroken: damaged input is not merged.
func TestMergeBroken(t *testing.T) {
	good := `{"v":1,"nets":{"n":{}},"calls":[{"number":1}],"new":[1]}`
	if got, err := statecode.Merge([]byte(good), nil); err != nil || string(got) != `{"v":1,"new":[1],"nets":{"n":{}},"calls":[{"number":1}]}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, c := range [][2]string{
		{`{"v":1`, `{}`}, {`{"nets":1}`, `{}`}, {`{"calls":{}}`, `{}`}, {`{"calls":[{"number":"1"}]}`, `{}`},
		{good, `{"v"`}, {good, `{"nets":[]}`}, {good, `{"calls":[]}`}, {good, `{"calls":{"x":null}}`}, {good, ``},
	} {
		if got, err := statecode.Merge([]byte(c[0]), [][]byte{[]byte(c[1])}); err == nil {
			t.Errorf("%s with %s is %s", c[0], c[1], got)
		}
	}
}
