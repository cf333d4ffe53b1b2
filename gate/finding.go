package gate

import (
	"math/big"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
)

// finding is the verdict of one net, or of one net for one value.
type finding struct {
	subject
	labels    []naming.Label // names that this net gives the call
	choices   []choice       // empty if the net blocks
	special   *special       // nil: no special parts
	label     int32          // index of the first blocked label
	kind      VerdictKind    // Abstain only if the net moves nevertheless
	manual    bool           // a chosen transition requires approval
	restarts  bool           // data is the initial state, because the call ends a row
	doubtful  bool           // blocked because the name is weak
	broken    bool           // the mapper failed
	addsValue bool           // concerns a value without an entry in the state
}

// findings are the verdicts of the nets on one call, in the order of the policy.
type findings []finding

// subject is a net that applies to a call, with its state at the time of the call. A net with a key
// has one subject for each value of the call, and one without a value for the parts that concern no
// value.
type subject struct {
	net  *net
	data *NetData

	// For a net with a key whose values are known; otherwise nil.
	base  *NetData        // default state
	plan  *plan           // plan of the call
	value *keyvalue.Value // nil: the part of the call that concerns no value
}

// special contains the parts of a finding that only few nets have.
type special struct {
	spoils []choice // transitions that spoil evidence, see [Transition.Spoils]
	reason string   // reason for blocking other than the marking; may be empty
	retry  time.Duration
	phase  *Phase   // the phase that blocks the call
	amount *big.Rat // amount that the call adds to the sum of the net
	missed uint64   // bit set of the watches of the plan that do not count for the value
}

// chosen reports whether the transition was chosen for an earlier name.
func (f *finding) chosen(t int) bool {
	return slices.ContainsFunc(f.choices, func(c choice) bool { return c.transition == t })
}

func (f *finding) add(t, label int) {
	f.kind = max(f.kind, Gated)
	f.choices = append(f.choices, choice{transition: t, name: f.labels[label].Text})
}

// moves reports whether an admitted call moves the net. This is possible even if the net blocks: it
// might yield or be in shadow mode.
func (f *finding) moves() bool {
	return len(f.choices) > 0 || f.restarts || f.special != nil && (len(f.special.spoils) > 0 || f.special.missed != 0)
}

// hasGating reports whether a transition other than an observer was chosen.
func (f *finding) hasGating() bool {
	for _, c := range f.choices {
		if !f.net.Transitions[c.transition].Observe {
			return true
		}
	}
	return false
}

func (f *finding) block(label int) {
	if f.kind != Blocked {
		f.kind, f.label = Blocked, int32(label)
	}
}

// blockDoubtful blocks a weak name that would let the net progress.
func (f *finding) blockDoubtful(label int) {
	f.doubtful = f.doubtful || f.kind != Blocked
	f.block(label)
}

// blockFor blocks the call for a reason other than the marking.
func (f *finding) blockFor(reason string, retry time.Duration) {
	f.kind, f.label, f.choices = Blocked, 0, f.choices[:0]
	s := f.makeSpecial()
	s.reason, s.retry = reason, retry
}

// makeSpecial returns the special part of the finding for changes.
func (f *finding) makeSpecial() *special {
	if f.special == nil {
		f.special = &special{}
	}
	return f.special
}

// spoils returns the transitions that spoil evidence.
func (f *finding) spoils() []choice {
	if f.special == nil {
		return nil
	}
	return f.special.spoils
}

// objection returns the reason for blocking other than the marking, or "".
func (f *finding) objection() string {
	if f.special == nil {
		return ""
	}
	return f.special.reason
}

// copyState returns a copy of the state of the subject for changes. If the value has no state yet, the
// copy derives from the default state.
func (s *subject) copyState() NetData {
	if s.value == nil || s.data != s.base {
		return *s.data
	}
	return netstate.ForNewValue(s.base)
}

// enforced returns s with its state in the world where the nets in shadow mode block.
func (s subject) enforced() subject {
	s.data = s.data.Shadow.Enforced
	if s.base != nil {
		s.base = s.base.Shadow.Enforced
	}
	return s
}

// keyValues returns the value of the finding by field.
func (f *finding) keyValues() []KeyValue {
	if f.value == nil {
		return nil
	}
	return f.value.Named
}

// withValue returns the transitions whose key has the value of the finding.
func (f *finding) withValue(lists []int) []int {
	if f.value != nil && f.plan.KeysOf(f.value) == f.net.allKeys() {
		return lists
	}
	return listing.Delete(lists, func(t int) bool { return !f.appliesTo(t) })
}

// appliesTo reports whether the transition applies to the value of the finding. A transition whose value
// is in the result might apply to any value.
func (f *finding) appliesTo(t int) bool {
	if f.value == nil {
		return false
	}
	return f.plan.KeysOf(f.value)&(1<<f.net.keyOf[t]) != 0 || slices.Contains(f.net.results, t)
}

// lacks reports whether the net blocks because the call has no value.
func (f *finding) lacks() bool { return f.value == nil && f.plan != nil && f.plan.missing != nil }

func (f *finding) verdict() Verdict {
	v := Verdict{Net: f.net.Name, Kind: f.kind, Manual: f.manual, Rule: f.net.Rule, Shadow: f.net.Shadow}
	if f.value != nil {
		v.Key = f.value.Named
	}
	switch {
	case len(f.choices) > 0:
		v.Transition = f.net.Transitions[f.choices[0].transition].Name
	case f.kind == Gated:
		v.Transition = f.net.Transitions[f.spoils()[0].transition].Name
	}
	return v
}
