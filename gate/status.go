package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A NetState is a copy of the state of one net.
type NetState struct {
	Name     string
	Active   bool
	Marking  Marking // tokens in flight are counted where they came from
	InFlight []InFlight
	Meta     Meta
}

// InFlight is a deferred transition whose call has not ended.
type InFlight struct {
	Transition string
	Call       uint64
	Other      bool // the call is of another session
}

// A Marking says how many tokens are in each place.
type Marking []Tokens

// Tokens is one place of a [Marking].
type Tokens struct {
	Place    string
	Count    int // all tokens, those in flight included
	InFlight int
}

// String is the marked places: "ready:1 (1 in flight), budget:2".
func (m Marking) String() string {
	var parts []string
	for _, t := range m {
		switch {
		case t.InFlight > 0:
			parts = append(parts, fmt.Sprintf("%s:%d (%d in flight)", t.Place, t.Count, t.InFlight))
		case t.Count > 0:
			parts = append(parts, fmt.Sprintf("%s:%d", t.Place, t.Count))
		}
	}
	return strings.Join(parts, ", ")
}

// show is the marking of the net for people: every place, in order.
func (n *net) show(d *NetData) Marking {
	all := n.displayed(d)
	m := make(Marking, len(all))
	for i, place := range n.Places {
		m[i] = Tokens{Place: place, Count: all[i], InFlight: all[i] - d.Marking[i]}
	}
	return m
}

func (d *NetData) activity() string {
	if d.Active {
		return "active"
	}
	return "inactive"
}

// Nets is the state of every net, in the order of the policy.
func (s *Session) Nets() (nets []NetState) {
	s.update(func(state *State) *Delta {
		for i, n := range s.policy.nets {
			data := state.Nets[i]
			ns := NetState{Name: n.Name, Active: data.Active, Marking: n.show(data), Meta: maps.Clone(data.Meta)}
			for _, f := range data.Flights {
				ns.InFlight = append(ns.InFlight, InFlight{Transition: n.Transitions[f.Transition].Name, Call: f.Call, Other: f.Owner != state.Owners[n.Scope]})
			}
			nets = append(nets, ns)
		}
		return nil
	})
	return nets
}

// Status is one line for each net: its name, whether it is active, its marking.
func (s *Session) Status() string {
	var b strings.Builder
	for _, n := range s.Nets() {
		d := NetData{Active: n.Active}
		fmt.Fprintf(&b, "%s (%s): %s\n", n.Name, d.activity(), n.Marking)
	}
	return b.String()
}

// An Enabled is a transition that could fire now for a call of one of its tools.
type Enabled struct {
	Net, Transition string
	Tools           []Tool
	Manual          bool
}

// Enabled lists the transitions with tools that are enabled in the active nets.
func (s *Session) Enabled() (list []Enabled) {
	s.update(func(state *State) *Delta {
		for i, n := range s.policy.nets {
			if data := state.Nets[i]; data.Active && !data.Stuck {
				list = append(list, n.enabled(data)...)
			}
		}
		return nil
	})
	return list
}

func (n *net) enabled(d *NetData) (list []Enabled) {
	for i, t := range n.Transitions {
		if len(t.Tools) > 0 && n.net.Transitions[i].Enabled(d.Marking) {
			list = append(list, Enabled{Net: n.Name, Transition: t.Name, Tools: slices.Clone(t.Tools), Manual: t.Manual})
		}
	}
	return list
}

// Prompt describes the active nets for the prompt of a model: what can be
// called now, what is always free, and the marking.
func (s *Session) Prompt() string {
	var b strings.Builder
	b.WriteString("## Active Petri Nets\n")
	s.update(func(state *State) *Delta {
		for i, n := range s.policy.nets {
			if data := state.Nets[i]; data.Active {
				n.describe(&b, data)
			}
		}
		return nil
	})
	return b.String()
}

func (n *net) describe(b *strings.Builder, d *NetData) {
	var tools []string
	for _, e := range n.enabled(d) {
		for _, t := range e.Tools {
			if !slices.Contains(tools, t.Name) {
				tools = append(tools, t.Name)
			}
		}
	}
	fmt.Fprintf(b, "\n### %s\nAvailable gated tools: %s\nFree tools: %s\nState: %s\n",
		n.Name, list(tools), list(n.Free), n.show(d))
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
