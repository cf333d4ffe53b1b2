package callclass

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// Carries reports whether calls of class s have the name t. If evidence is true, a name counts only
// if the calls' success counts toward requirements that use the name.
func (s *Class) Carries(t gate.Tool, evidence bool) bool {
	for _, l := range s.labels { // slices.ContainsFunc would allocate a closure on every call
		if denotes(l, t) && !(evidence && l.Weak) {
			return true
		}
	}
	return false
}

// denotes reports whether t, a name in a rule or an assertion, refers to the label.
func denotes(l naming.Label, t gate.Tool) bool {
	return l.Text == t.Name && (l.Glob > 0) == (t.Kind == gate.Glob) && !(t.Kind == gate.Literal && l.From == naming.FromAction)
}

// CarriesCertainly is like [Class.Carries], but reports whether calls of class s are certain to
// have the given name.
func (s *Class) CarriesCertainly(t gate.Tool) bool {
	return slices.ContainsFunc(s.labels, func(l naming.Label) bool { return l.Certain && denotes(l, t) })
}

// Unsure reports whether calls of class s might be impossible.
func (s *Class) Unsure() bool { return s.Doubtful || s.supposed || s.lacking != "" }

// Nets returns the indexes of the nets that the class affects.
func (s *Class) Nets() []int { return list.Map(s.Effects, func(t Effect) int { return t.Net }) }

// Name returns a human-readable name: the last name that map statements or actions give to the
// calls or, without such names, the tool.
func (s *Class) Name() string {
	if s.Waits {
		return "time passes"
	}
	name := s.Tool
	for _, l := range s.labels {
		if l.Glob == 0 && l.From&naming.FromTool == 0 {
			name = l.Text
		}
	}
	return name
}

// Mapped returns the names that map statements give to calls of class s. ok is false if the effects
// of the calls also depend on names of actions or on the values of key fields.
func (s *Class) Mapped() (names []gate.Name, ok bool) {
	for _, l := range s.labels {
		switch {
		case l.Glob > 0 || l.From&naming.FromTool != 0: // skip patterns and the tool's own names
		case l.From&naming.FromAction != 0:
			return nil, false
		default:
			names = append(names, gate.Name{Text: l.Text, Certain: l.Certain, Weak: l.Weak})
		}
	}
	return names, len(s.Data) == 0
}

// CarriesWeakly reports whether the given name only restricts calls of class s. The success of the
// calls then does not count toward requirements that use the name.
func (s *Class) CarriesWeakly(name string) bool {
	return slices.ContainsFunc(s.labels, func(l naming.Label) bool { return l.Glob == 0 && l.Text == name && l.Weak })
}

// Concerns reports whether calls of class s affect the net.
func (s *Class) Concerns(net int) bool { return s.MeaningIn(net) >= 0 }

// MeaningIn returns the index of the [Meaning], or effect, that calls of class s have in the net.
// It returns -1 if they do not affect the net.
func (s *Class) MeaningIn(net int) int {
	for _, t := range s.Effects {
		if t.Net == net {
			return t.Meaning
		}
	}
	return -1
}

func (s *Class) rank() int {
	switch {
	case s.Doubtful:
		return 3
	case s.Unsure():
		return 2
	case len(s.BlockedBy) > 0:
		return 1
	}
	return 0
}
