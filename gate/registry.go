package gate

import (
	"fmt"
	"slices"
	"strings"
)

// Activate makes a net take part in decisions again, from where it left off;
// a net that is shared for all its sessions. Old credit comes back with it.
// Its error is about the name, or says that the net is active.
//
// It is for this session; see [Policy.Switch] for those that are made later.
func (s *Session) Activate(net string) error { return s.toggle(net, true) }

// Deactivate takes a net out of decisions, a net that is shared for all its
// sessions; its state is kept, it settles its calls in flight, its watches end
// and its clock stands still. Its error is about the name, or says that the net
// is not active.
//
// It is for this session; see [Policy.Switch] for those that are made later.
func (s *Session) Deactivate(net string) error { return s.toggle(net, false) }

func (s *Session) toggle(name string, on bool) error {
	n, err := s.policy.find(name)
	if err != nil {
		return err
	}
	s.update(func(state *State) *Delta {
		data := state.Nets[n.index]
		if data.Active == on {
			err = n.already(on)
			return nil
		}
		return &Delta{Nets: []NetDelta{{Net: n.index, Data: data.switched(on)}}}
	})
	return err
}

// Switch is the list of active nets with one of them switched on or off, in
// the order of the policy: the [SessionOptions].Active and [SharedOptions].Active
// of what is made from then on. A nil list is all nets. Its error is that of
// [Session.Activate] and [Session.Deactivate].
func (p *Policy) Switch(active []string, net string, on bool) ([]string, error) {
	n, err := p.find(net)
	if err != nil {
		return nil, err
	}
	if was := active == nil || slices.Contains(active, net); was == on {
		return nil, n.already(on)
	}
	names := []string{}
	for _, name := range p.netNames() {
		if name == net && on || name != net && (active == nil || slices.Contains(active, name)) {
			names = append(names, name)
		}
	}
	return names, nil
}

// find is the net of that name; its error helps who misspelt it.
func (p *Policy) find(name string) (*net, error) {
	if n := p.byName[name]; n != nil {
		return n, nil
	}
	known := p.netNames()
	if near := Nearest(name, known); near != "" {
		return nil, fmt.Errorf("unknown net %q; did you mean %q?", name, near)
	}
	return nil, fmt.Errorf("unknown net %q; the nets are: %s", name, strings.Join(known, ", "))
}

func (n *net) already(active bool) error {
	d := NetData{Active: active}
	return fmt.Errorf("net %q is %s", n.Name, d.activity())
}

func (p *Policy) netNames() []string {
	names := make([]string, len(p.nets))
	for i, n := range p.nets {
		names[i] = n.Name
	}
	return names
}
