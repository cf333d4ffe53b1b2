package gate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// player makes a test's calls and checks their results.
type player struct {
	t *testing.T
	*gate.Session
}

func play(t *testing.T, o gate.PolicyOptions, nets ...gate.Net) *player {
	t.Helper()
	p, err := gate.NewPolicy(nets, o)
	if err != nil {
		t.Fatal(err)
	}
	return &player{t, gate.NewSession(p, gate.SessionOptions{})}
}

// call parses "tool" or "tool {arguments}".
func call(text string) gate.Call {
	tool, args, _ := strings.Cut(text, " ")
	return gate.Call{Tool: tool, Args: []byte(args)}
}

func (p *player) allow(text string) *gate.Allow {
	p.t.Helper()
	return p.allowCall(call(text), nil)
}

func (p *player) allowCall(c gate.Call, g *gate.Grant) *gate.Allow {
	p.t.Helper()
	d := p.Decide(c, g)
	a, ok := d.(*gate.Allow)
	if !ok {
		p.t.Fatalf("%s: %+v, want allow\n%s", c.Tool, d, p.Status())
	}
	return a
}

func (p *player) success(text string) { p.t.Helper(); p.allow(text).Ticket.Settle(gate.Success) }

func (p *player) refuse(text string, kind gate.Kind, nets ...string) *gate.Refusal {
	p.t.Helper()
	return p.refuseCall(call(text), nil, kind, nets...)
}

func (p *player) refuseCall(c gate.Call, g *gate.Grant, kind gate.Kind, nets ...string) *gate.Refusal {
	p.t.Helper()
	before := p.Status()
	d := p.Decide(c, g)
	r, ok := d.(*gate.Refusal)
	if !ok || r.Kind != kind {
		p.t.Fatalf("%s: %+v, want a refusal (%s)\n%s", c.Tool, d, kind, p.Status())
	}
	var got []string
	for _, b := range r.Blocks {
		got = append(got, b.Net)
	}
	if !slices.Equal(got, nets) {
		p.t.Errorf("%s: refused by %v, want %v", c.Tool, got, nets)
	}
	if after := p.Status(); after != before {
		p.t.Errorf("%s: a refusal moved a net:\n%s%s", c.Tool, before, after)
	}
	return r
}

func (p *player) ask(text string) *gate.Ask {
	p.t.Helper()
	d := p.Decide(call(text), nil)
	a, ok := d.(*gate.Ask)
	if !ok {
		p.t.Fatalf("%s: %+v, want a question", text, d)
	}
	return a
}

// status checks the status lines without the final newline.
func (p *player) status(want ...string) {
	p.t.Helper()
	if got := strings.TrimSpace(p.Status()); got != strings.Join(want, "\n") {
		p.t.Errorf("status is\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// tr parses a transition: "name: in in -> out [flags] | tool tool"; a flag can also be a duration,
// as in [20s].
func tr(text string) gate.Transition {
	head, tools, _ := strings.Cut(text, "|")
	name, arcs, _ := strings.Cut(head, ":")
	in, out, _ := strings.Cut(arcs, "->")
	t := gate.Transition{Name: name, Inputs: strings.Fields(in), Tools: gate.Tools(strings.Fields(tools)...)}
	for _, w := range strings.Fields(out) {
		switch w {
		case "[manual]":
			t.Manual = true
		case "[deferred]":
			t.Deferred = true
		case "[observe]":
			t.Observe = true
		case "[spoils]":
			t.Spoils = true
		case "[release]":
			t.Release = true
		default:
			if every, err := time.ParseDuration(strings.Trim(w, "[]")); err == nil {
				t.Every = every
				continue
			}
			t.Outputs = append(t.Outputs, w)
		}
	}
	return t
}

// handNet returns a net whose places are those mentioned in its marking and transitions.
func handNet(name string, initial map[string]int, ts ...string) gate.Net {
	n := gate.Net{Name: name, Initial: initial}
	add := func(places ...string) {
		for _, place := range places {
			if !slices.Contains(n.Places, place) {
				n.Places = append(n.Places, place)
			}
		}
	}
	for _, text := range ts {
		t := tr(text)
		n.Transitions = append(n.Transitions, t)
		add(t.Inputs...)
		add(t.Outputs...)
	}
	for place := range initial {
		add(place)
	}
	return n
}

func contains(word string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, word) }
}

// marking checks the marking of the only net.
func (p *player) marking(want string) {
	p.t.Helper()
	if got := p.Nets()[0].Marking.String(); got != want {
		p.t.Errorf("marking is %s, want %s", got, want)
	}
}

// labels are the labels for a policy whose nets have none.
func labels(maps ...gate.Map) []*gate.Labels { return []*gate.Labels{{Maps: maps}} }
