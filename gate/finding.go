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

// finding is a net's verdict on a call. A net with a key can have a finding for each key value in
// the call; see [subject].
type finding struct {
	subject
	labels    []naming.Label // the call's names; if the net has no Labels, the names given by the net itself
	choices   []choice       // transitions chosen for the call's names; empty if the net blocks
	special   *special       // additional data; nil for most findings
	label     int32          // index in labels of the first name that the net blocks
	kind      VerdictKind    // the net's verdict; the call can change the net even if this is Abstain
	manual    bool           // whether a chosen transition requires approval
	restarts  bool           // whether the call ends a series of identical calls and thus resets the net to its initial state
	doubtful  bool           // whether the net blocks the call only because a name is weak, that is, the call's success does not count for it; see [Name]
	broken    bool           // whether the net's Mapper has failed
	addsValue bool           // whether the finding is for a key value that the state does not contain yet
}

// findings are the verdicts on a call, in policy order.
type findings []finding

// subject is a net that applies to a call, together with the net's state at the time of the call. A
// net with a key has one subject for each key value in the call. It can also have a subject without
// a key value, for everything that does not depend on key values.
type subject struct {
	net  *net
	data *NetData

	// The following fields are set only for a net with a key, if the call's key values are known.
	base  *NetData        // the net's default state; see [NetData]
	plan  *plan           // how the call affects the net
	value *keyvalue.Value // nil in the subject without a key value
}

// special holds the data that only a few findings have.
type special struct {
	spoils []choice // transitions with [Transition.Spoils] that match the call
	reason string   // why the net blocks the call; empty if the marking is the reason
	retry  time.Duration
	phase  *Phase   // the phase that blocks the call
	amount *big.Rat // amount that the call adds to the net's sum
	missed uint64   // bit set of the observers in plan.watches that the call's success will not fire for this key value
}

// chosen reports whether t has already been chosen for one of the call's names.
func (f *finding) chosen(t int) bool {
	return slices.ContainsFunc(f.choices, func(c choice) bool { return c.transition == t })
}

func (f *finding) add(t, label int) {
	f.kind = max(f.kind, Gated)
	f.choices = append(f.choices, choice{transition: t, name: f.labels[label].Text})
}

// moves reports whether the call changes the net when it is admitted. A call can be admitted
// although the net blocks it: the net might be in shadow mode, or it might be advisory and
// currently have no effect (see [Net.Advisory]).
func (f *finding) moves() bool {
	s := f.special
	return len(f.choices) > 0 || f.restarts || s != nil && (len(s.spoils) > 0 || s.missed != 0)
}

// hasGating reports whether any chosen transition gates the call rather than merely observing it.
func (f *finding) hasGating() bool {
	return slices.ContainsFunc(f.choices, func(c choice) bool { return !f.net.Transitions[c.transition].Observe })
}

func (f *finding) block(label int) {
	if f.kind != Blocked {
		f.kind, f.label = Blocked, int32(label)
	}
}

// blockDoubtful blocks the call because the transition for a weak name would add tokens to a place.
// A name is weak if the call's success does not count for it; see [Name].
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

// makeSpecial returns f.special, allocating it if necessary.
func (f *finding) makeSpecial() *special {
	if f.special == nil {
		f.special = &special{}
	}
	return f.special
}

// parts returns f.special or, if it is nil, an empty value. The result must not be modified; see
// makeSpecial.
func (f *finding) parts() *special {
	if f.special == nil {
		return &noSpecial
	}
	return f.special
}

// noSpecial is the empty value that parts returns. It is read-only.
var noSpecial special

// spoils returns the transitions with [Transition.Spoils] that list a name of the call.
func (f *finding) spoils() []choice { return f.parts().spoils }

// objection returns the reason why the net blocks the call. It returns "" if the net does not block
// the call, or blocks it because of the marking.
func (f *finding) objection() string { return f.parts().reason }

// copyState returns a copy of the subject's state. The caller can modify the copy. If the key value
// has no state yet, the copy is derived from the net's default state; see [NetData].
func (s *subject) copyState() NetData {
	if s.value == nil || s.data != s.base {
		return *s.data
	}
	return netstate.ForNewValue(s.base)
}

// enforced returns a copy of s with the enforced state: the state that the net would have if the
// nets in shadow mode blocked calls.
func (s subject) enforced() subject {
	s.data = s.data.Shadow.Enforced
	if s.base != nil {
		s.base = s.base.Shadow.Enforced
	}
	return s
}

// keyValues returns the values of the key fields that together form the finding's key value.
func (f *finding) keyValues() []KeyValue {
	if f.value == nil {
		return nil
	}
	return f.value.Named
}

// withValue returns those of the given transitions that apply to the finding's key value.
func (f *finding) withValue(transitions []int) []int {
	if f.value != nil && f.plan.KeysOf(f.value) == f.net.allKeys() {
		return transitions
	}
	return listing.Delete(transitions, func(t int) bool { return !f.appliesTo(t) })
}

// appliesTo reports whether transition t applies to the finding's key value. A transition whose key
// is read from the result might apply to any value.
func (f *finding) appliesTo(t int) bool {
	if f.value == nil {
		return false
	}
	return f.plan.KeysOf(f.value)&(1<<f.net.keyOf[t]) != 0 || slices.Contains(f.net.results, t)
}

// lacks reports whether the net blocks the call because the call has no value for the key of a
// gating transition.
func (f *finding) lacks() bool { return f.value == nil && f.plan != nil && f.plan.missing != nil }

func (f *finding) verdict() Verdict {
	v := Verdict{Net: f.net.Name, Kind: f.kind, Manual: f.manual, Rule: f.net.Rule, Shadow: f.net.Shadow, Key: f.keyValues()}
	switch {
	case len(f.choices) > 0:
		v.Transition = f.net.Transitions[f.choices[0].transition].Name
	case f.kind == Gated:
		v.Transition = f.net.Transitions[f.spoils()[0].transition].Name
	}
	return v
}
