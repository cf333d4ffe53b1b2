package gate

import (
	"cmp"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/petri"
)

// A State is all that a policy remembers of one conversation. It is plain
// data: [Policy.Decide] and the other questions read it and never change it;
// what changes is a [Delta], and [State.Apply] is the only writer.
type State struct {
	Nets  []*NetData           // in the order of the policy
	Calls map[uint64]*OpenCall // admitted and not settled; nil: there was none yet
	Asks  map[uint64]*OpenAsk  // waiting for an answer; nil: as of Calls
	Spent []uint64             // numbers of grants that were used
	Last  uint64               // the number given last

	Tools []Call // the tools that can be called; nil: not known, see [Session.Offer]

	Near []Near // the last call of each name whose success was no evidence of it; not stored with the session

	Would WouldCount // the answers that the nets in shadow would have given

	// Owners tells the session's own flights from those of others, by the scope
	// of the net; 0: all are its own.
	Owners [3]uint64

	policy *Policy
	ids    map[string]int // of Calls and Asks: how many have each
}

// Policy returns the policy of this state: the one that created it, or that adopted
// it by [Policy.Adopt].
func (s *State) Policy() *Policy { return s.policy }

// Open lists the calls that were admitted and not settled, oldest first.
func (s *State) Open() []Holder {
	var open []Holder
	for _, c := range s.Calls {
		open = append(open, c.holder())
	}
	slices.SortFunc(open, func(a, b Holder) int { return cmp.Compare(a.Number, b.Number) })
	return open
}

// An OpenCall is an admitted call that is not settled.
type OpenCall struct {
	Number uint64
	Call   Call  // without its arguments, unless a hook needs them
	Nets   []int // the nets that have a flight or a watch of it, or whose evidence it spoils

	// Keys are by Nets as in [NetDelta]: a net with a key stands there for each of its
	// values that waits, and with an empty one for the net at large. Nil: all are empty.
	Keys []string

	Unknown bool // its outcome was reported as unknown

	// More is how many further calls of unknown outcome this one stands for: calls of the
	// same tool that have nothing in flight and spoil no other evidence. Of many such calls,
	// a state keeps one. An end of it that is not [End.All] ends one of them, and the others
	// go on spoiling evidence: the end does not tell which call it was.
	More uint64
}

// An OpenAsk is a call that waits for the answer of a person.
type OpenAsk struct {
	Number uint64
	Call   Call
}

// A Delta is the change of a [State] by one step.
type Delta struct {
	Nets     []NetDelta
	Asked    *OpenAsk  // a call begins to wait
	Answered uint64    // a call waits no longer
	Spent    uint64    // a grant was used
	Opened   *OpenCall // a call was admitted, or its record has changed
	Closed   uint64    // a call was settled, or Opened stands for it too
	Would    Kind      // how the nets in shadow would have answered; empty: they agree
	Tools    []Call    // the tools that can be called from now on; nil: as before
	Near     []Near    // names of the call: without a reason, they are evidence
}

// A NetDelta is the new state of one net.
type NetDelta struct {
	Net int // its index in the policy

	// Key is the value of the key of the net to which the state belongs. Empty: to the
	// net, one with a key at large. A state for a value like that of the net at large
	// is not kept.
	Key  string
	Data *NetData
}

// set records the new state of the net, or that for one value.
func (d *Delta) set(net int, key string, data *NetData) {
	for i := len(d.Nets) - 1; i >= 0; i-- {
		if n := &d.Nets[i]; n.Net == net && n.Key == key {
			n.Data = data
			return
		}
	}
	d.Nets = append(d.Nets, NetDelta{Net: net, Key: key, Data: data})
}

// of returns the new state of the net, or that for one value, or nil if it does not
// change.
func (d *Delta) of(net int, key string) *NetData {
	for i := range d.Nets {
		if n := &d.Nets[i]; n.Net == net && n.Key == key {
			return n.Data
		}
	}
	return nil
}

// NewState returns the initial state. The named nets are active, all if active is
// nil.
func (p *Policy) NewState(active []string) *State {
	s := &State{Nets: make([]*NetData, len(p.nets)), policy: p}
	on := make(map[string]bool, len(active))
	for _, name := range active {
		on[name] = true
	}
	for i, n := range p.nets {
		s.Nets[i] = n.atStart(active == nil || on[n.Name])
	}
	return s
}

// fresh makes the state of the net at its start.
func (n *net) fresh(active bool) *NetData {
	d := &NetData{Active: active, Marking: n.start}
	if n.Shadow {
		d.Shadow = &ShadowData{Enforced: &NetData{Active: active, Marking: n.start}}
	}
	return d
}

// atStart returns the state of the net at its start. All states share it: most nets of
// most sessions are never moved.
func (n *net) atStart(active bool) *NetData {
	if active {
		return n.on
	}
	return n.off
}

// Reset puts every net of s back to its start; calls in flight settle without
// effect, but those that spoil evidence do so until they end. Which nets are active, and what waits for a person, stays, and so do
// the nets that are shared with other sessions, see [State.Owners].
func (p *Policy) Reset(s *State) *Delta {
	d := &Delta{}
	for i, n := range p.nets {
		if s.Owners[n.Scope] == 0 {
			d.set(i, "", n.restarted(s.Nets[i]))
		}
	}
	return d
}

// Apply makes the change that d describes; d must come from this very state.
// It panics, and changes nothing, if d would leave a negative number of tokens.
func (s *State) Apply(d *Delta) {
	if d == nil {
		return
	}
	d.check()
	keyed := false
	for i := range d.Nets {
		if n := &d.Nets[i]; n.Key == "" {
			s.Nets[n.Net] = n.Data
		} else {
			keyed = true
		}
	}
	if keyed {
		s.applyValues(d)
	}
	if a := s.Asks[d.Answered]; a != nil {
		s.forget(a.Call.ID)
		delete(s.Asks, d.Answered)
	}
	if c := s.Calls[d.Closed]; c != nil {
		s.forget(c.Call.ID)
		delete(s.Calls, d.Closed)
	}
	s.Would.add(d.Would)
	if d.Tools != nil {
		s.Tools = d.Tools
	}
	for i := range d.Near {
		s.remember(&d.Near[i])
	}
	if d.Spent > 0 {
		s.Spent = append(s.Spent[:len(s.Spent):len(s.Spent)], d.Spent)
	}
	if d.Asked != nil {
		s.countID(d.Asked.Call.ID)
		if s.Asks == nil {
			s.Asks = make(map[uint64]*OpenAsk)
		}
		s.Asks[d.Asked.Number] = d.Asked
		s.Last = max(s.Last, d.Asked.Number)
	}
	if c := d.Opened; c != nil {
		if s.Calls[c.Number] == nil {
			s.countID(c.Call.ID)
		}
		s.addCall(c)
		s.Last = max(s.Last, c.Number)
	}
}

// applyValues makes the changes for single values.
func (s *State) applyValues(d *Delta) {
	last := -1 // the net that was changed last
	for i := range d.Nets {
		if n := &d.Nets[i]; n.Key != "" {
			s.Nets[n.Net] = netstate.With(s.Nets[n.Net], n.Key, n.Data, n.Net == last)
			last = n.Net
		}
	}
}

// check panics if a marking is broken: that is a defect of this package, and
// a call must not pass on it.
func (d *Delta) check() {
	for _, n := range d.Nets {
		if netstate.Owes(n.Data) || netstate.Owes(n.Data.Deciding()) {
			panic("gate: a place has a negative number of tokens")
		}
	}
}

// addCall adds the record of an admitted call.
func (s *State) addCall(c *OpenCall) {
	if s.Calls == nil {
		s.Calls = make(map[uint64]*OpenCall)
	}
	s.Calls[c.Number] = c
}

// countID counts one more open call or question with the id.
func (s *State) countID(id string) {
	if s.ids == nil {
		s.ids = make(map[string]int)
	}
	s.ids[id]++
}

func (s *State) forget(id string) {
	if s.ids[id]--; s.ids[id] == 0 {
		delete(s.ids, id)
	}
}

// flight returns the flight of a call that the net waits for.
func (s *State) flight(n *net, number uint64, since time.Time) Flight {
	return Flight{Owner: s.Owners[n.Scope], Call: number, Since: since}
}

// taken reports whether another call than the one that waits as asked is in
// flight or waiting with this id.
func (s *State) taken(id string, asked *OpenAsk) bool {
	if id == "" || asked != nil && asked.Call.ID == id {
		return false
	}
	return s.ids[id] > 0
}

// displayed returns the marking with the tokens in flight where they came from.
func (n *net) displayed(d *NetData) petri.Marking {
	m := append(petri.Marking(nil), d.Marking...)
	for _, f := range d.Flights {
		n.net.Transitions[f.Transition].GiveBack(m)
	}
	return m
}
