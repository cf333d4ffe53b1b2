package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/text"
)

// Activate makes a net take part in decisions again, with the state that it had when it was
// deactivated. A shared net is activated for all its sessions. Activate fails if the name is
// unknown, or if the net is already active or is static (see [Net.Static]).
//
// To activate a net in later sessions, use [Policy.Switch].
func (s *Session) Activate(net string) error { return s.toggle(net, true) }

// Deactivate excludes a net from decisions. A shared net is deactivated for all its sessions. The
// net keeps its state, and calls in flight still move the net's tokens when they end. But the net's
// clock stops, and its observers (see [Transition].Observe) stop waiting for calls. Deactivate
// fails if the name is unknown, or if the net is not active or is static (see [Net.Static]).
//
// To deactivate a net in later sessions, use [Policy.Switch].
func (s *Session) Deactivate(net string) error { return s.toggle(net, false) }

func (s *Session) toggle(name string, on bool) (err error) {
	s.update(func(state *State) (d *Delta) {
		d, err = s.policy.Toggle(state, name, on)
		return d
	})
	return err
}

// Toggle activates or deactivates a net in state s; see [Session.Activate] and
// [Session.Deactivate].
func (p *Policy) Toggle(s *State, name string, on bool) (*Delta, error) {
	n, err := p.dynamic(name)
	if err != nil {
		return nil, err
	}
	data := s.Nets[n.index]
	if data.Active == on {
		return nil, n.alreadyError(on, p.netNames(func(n *net) bool { return s.Nets[n.index].Active }))
	}
	return &Delta{Nets: []NetDelta{{Net: n.index, Data: netstate.Switched(data, on)}}}, nil
}

// Switch switches the named net on or off in a list of active nets and returns the new list, in
// policy order. If active is nil, the list contains all nets. Pass the new list to later sessions
// in [SessionOptions].Active or [SharedOptions].Active. Switch fails under the same conditions as
// [Session.Activate] and [Session.Deactivate].
func (p *Policy) Switch(active []string, name string, on bool) ([]string, error) {
	n, err := p.dynamic(name)
	if err != nil {
		return nil, err
	}
	was := func(n *net) bool { return active == nil || slices.Contains(active, n.Name) }
	if was(n) == on {
		return nil, n.alreadyError(on, p.netNames(was))
	}
	return p.netNames(func(m *net) bool { return was(m) != (m == n) }), nil
}

// dynamic returns the named net if it may be switched on and off. If the name is unknown, the error
// suggests a similar name.
func (t *netTable) dynamic(name string) (*net, error) {
	if n := t.byName[name]; n != nil {
		if n.Static {
			return nil, fmt.Errorf("net %q cannot be switched at run time", name)
		}
		return n, nil
	}
	known := t.netNames(func(*net) bool { return true })
	if near := text.Nearest(name, known); near != "" {
		return nil, fmt.Errorf("unknown net %q; did you mean %q?", name, near)
	}
	return nil, fmt.Errorf("unknown net %q; the nets are: %s", name, strings.Join(known, ", "))
}

// alreadyError returns the error for a net that is already in the requested state. The error lists
// the active nets, in case the caller meant another net.
func (d *definition) alreadyError(on bool, active []string) error {
	if on {
		return fmt.Errorf("net %q is already active", d.Name)
	}
	return fmt.Errorf("net %q is not active; active: %s", d.Name, listOrNone(active))
}

// netNames returns the names of the selected nets, in policy order.
func (t *netTable) netNames(wanted func(*net) bool) []string {
	names := []string{}
	for _, n := range t.nets {
		if wanted(n) {
			names = append(names, n.Name)
		}
	}
	return names
}
