package policy

import "github.com/petrigate/petrigate/gate"

// A Watch is told which transitions of a policy move. Its functions run inside
// a decision: they must not block and must not ask the session.
type Watch struct {
	Chosen func(net, transition string) // fires if the call that is being decided is admitted
	Fired  func(net, transition string) // has fired, by a result
}

// Watched is the policy once more, with somebody who watches it. It
// decides as the policy does.
func (r *Result) Watched(w Watch) (*gate.Policy, error) {
	var nets []gate.Net
	for _, n := range r.Policy.Nets() {
		nets = append(nets, w.net(n.Net))
	}
	return gate.NewPolicy(nets, r.Policy.Options())
}

// net is the net with hooks before its own.
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
