package policy

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// A Watch is notified when transitions of a policy fire. Its functions are called while a decision
// is made, so they must not block or call the session.
type Watch struct {
	Chosen func(net, transition string) // called for a transition that fires if the current call is admitted
	Fired  func(net, transition string) // called for a transition that fires because a result has arrived
}

// Watched returns a copy of the policy that notifies w. The copy makes the same decisions as the
// original.
func (r *Result) Watched(w Watch) (*gate.Policy, error) {
	nets := list.Map(r.Policy.Nets(), func(n gate.NetInfo) gate.Net { return w.net(n.Net) })
	return gate.NewPolicy(nets, r.Policy.Options())
}

// net returns a copy of n whose hooks notify w and then run n's own hooks.
func (w Watch) net(n gate.Net) gate.Net {
	deferred := make(map[string]bool)
	for _, t := range n.Transitions {
		deferred[t.Name] = t.Deferred
	}
	validate, succeeded := n.Validate, n.OnSuccess
	n.Validate = func(f gate.Firing) error {
		if !deferred[f.Transition] {
			w.Chosen(f.Net, f.Transition)
		}
		if validate == nil {
			return nil
		}
		return validate(f)
	}
	n.OnSuccess = func(f gate.Firing) {
		w.Fired(f.Net, f.Transition)
		if succeeded != nil {
			succeeded(f)
		}
	}
	return n
}
