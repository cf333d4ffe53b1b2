package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestWeakNamesUseUpOnly checks that, if it is uncertain whether a call has a name, a hand-written
// net may lose tokens through it but never gain any.
func TestWeakNamesUseUpOnly(t *testing.T) {
	for _, c := range []struct {
		name, transition string
		refused          bool
		want             string
	}{
		{"uses up", "t: p -> | x", false, "p:1"},
		{"uses up one of two", "t: p p -> p | x", false, "p:1"},
		{"puts it back", "t: p -> p | x", false, "p:2"},
		{"puts it back later", "t: p -> p [deferred] | x", false, "p:2 (1 in flight)"},
		{"puts it elsewhere", "t: p -> q | x", true, "p:2"},
		{"puts it elsewhere later", "t: p -> q [deferred] | x", true, "p:2"},
		{"makes two of one", "t: p -> p p | x", true, "p:2"},
		{"makes one of none", "t: -> p | x", true, "p:2"},
		{"a person would be asked", "t: p -> q [manual] | x", true, "p:2"},
		{"observes", "t: p -> q [observe] | x", false, "p:2"},
	} {
		n := handNet("n", map[string]int{"p": 2}, c.transition)
		n.AllowUnbounded = true
		n.Maps = []gate.Map{{Tool: "sh", Field: "c", As: "x", Match: contains("x"), Source: "x"}}
		p := play(t, gate.PolicyOptions{}, n)
		if c.refused {
			r := p.refuse(`sh {"c":["x"]}`, gate.KindBlocked, "n")
			if r.Text != "Cannot tell whether this is x: write the command plainly." {
				t.Errorf("%s: %s", c.name, r.Text)
			}
			n.Transitions[0].WeakProgress = true
			q := play(t, gate.PolicyOptions{}, n)
			if d := q.Decide(call(`sh {"c":["x"]}`), nil); d == nil {
				t.Error(c.name)
			} else if _, refused := d.(*gate.Refusal); refused {
				t.Errorf("%s: %+v although the doubt is taken for the name", c.name, d)
			}
		} else {
			p.allow(`sh {"c":["x"]}`)
		}
		if got := p.Nets()[0].Marking.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWeakNamesOfRulesRestrict(t *testing.T) {
	m := gate.Map{Tool: "sh", Field: "c", As: "delete", Match: contains("rm"), Source: "rm"}
	p := play(t, gate.PolicyOptions{Labels: labels(m)}, sequenceNet("backup", "delete"))
	p.refuse(`sh {"c":["rm"]}`, gate.KindBlocked, "require-backup-before-delete")
	p.success("backup")
	p.allow(`sh {"c":["rm"]}`) // it takes the credit, as a certain name would
}

func TestWeakNameBesideACertainOne(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "t: p -> q | sh x")
	n.Maps = []gate.Map{{Tool: "sh", Field: "c", As: "x", Match: contains("x"), Source: "x"}}
	p := play(t, gate.PolicyOptions{}, n)
	p.allow(`sh {"c":["x"]}`) // every call to sh would advance the net
	p.status("n (active): q:1")
}

func TestWeakNameOfATool(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, handNet("n", map[string]int{"p": 1}, "t: p -> q | read"))
	r := p.refuseCall(gate.Call{Tool: "a_read", Also: []gate.Name{{Text: "read", Weak: true}}}, nil, gate.KindBlocked, "n")
	if r.Text != "Cannot tell which server's read this net waits for: the net must name the server too." {
		t.Error(r.Text)
	}
}

// TestDoubtIsNotTheFirst checks that a block by the marking takes precedence over a doubt.
func TestDoubtIsNotTheFirst(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "t: p -> q | x", "u: q -> p | sh")
	n.Maps = []gate.Map{{Tool: "sh", Field: "c", As: "x", Match: contains("x"), Source: "x"}}
	p := play(t, gate.PolicyOptions{}, n)
	if r := p.refuse(`sh {"c":["x"]}`, gate.KindBlocked, "n"); r.Text != "Tool 'sh' is not available in the current state." {
		t.Error(r.Text)
	}
}
