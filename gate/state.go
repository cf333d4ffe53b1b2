package gate

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// A State holds everything that a policy records about a conversation. It is plain data, which
// [Policy.Decide] and other queries only read. To change it, apply a [Delta] with [State.Apply].
type State struct {
	Nets  []*NetData           // states of the nets, in policy order
	Calls map[uint64]*OpenCall // admitted calls that have not succeeded or failed yet; may be nil
	Asks  map[uint64]*OpenAsk  // calls that are waiting for an answer; may be nil
	Spent []uint64             // numbers of used grants
	Last  uint64               // last number assigned to a call

	Tools []Call // tools that can be called; nil if unknown; see [Session.Offer]

	Near []Near // last near miss (see [Near]) for each name; not stored with the session

	Would WouldCount // counts of calls that passed only because nets are in shadow mode

	// Owners holds an owner number for each net scope. The number distinguishes the session's own
	// calls in flight from those of other sessions. 0 means that the nets are not shared.
	Owners [3]uint64

	policy *Policy
	ids    map[string]int // number of entries in Calls and Asks, by call ID
}

// Policy returns the policy that created the state, or that adopted it with [Policy.Adopt].
func (s *State) Policy() *Policy { return s.policy }

// Open lists the open calls (see [OpenCall]), oldest first.
func (s *State) Open() []Holder {
	var open []Holder
	for _, c := range s.Calls {
		open = append(open, c.holder())
	}
	slices.SortFunc(open, func(a, b Holder) int { return cmp.Compare(a.Number, b.Number) })
	return open
}

// An OpenCall is an admitted call that has not succeeded or failed yet.
type OpenCall struct {
	Number uint64
	Call   Call  // the call; without its arguments, unless a hook or a key needs them
	Nets   []int // indexes of the nets that wait for the call to end, or that count no other calls until then (see [Transition.Spoils])

	// Keys contains, for each element of Nets, the key value of the state that waits for the call.
	// It is empty for the default state (see [NetData]) and for a net without a key. If several
	// states of a net with a key wait for the call, Nets contains the net several times. If Keys is
	// nil, all key values are empty.
	Keys []string

	Unknown bool // whether the outcome was reported as unknown

	// More is the number of further calls that this call represents. To save space, the state
	// stores a single call in place of several similar ones with unknown outcomes. An [End] without
	// [End.All] ends only one of these calls. The call's effects under [Transition.Spoils] last
	// until all of them have ended.
	More uint64
}

// An OpenAsk is a call that waits for a person's answer.
type OpenAsk struct {
	Number uint64
	Call   Call
}

// A Delta is the change that a single step makes to a [State].
type Delta struct {
	Nets     []NetDelta
	Asked    *OpenAsk  // a call that starts to wait for a person's answer
	Answered uint64    // number of a call that no longer waits for an answer
	Spent    uint64    // number of a used grant
	Opened   *OpenCall // a call that was admitted or whose record has changed
	Closed   uint64    // number of a call that succeeded or failed, or that was merged into the call in Opened
	Would    Kind      // kind of refusal that nets in shadow mode would have caused; empty if none
	Tools    []Call    // new list of tools that can be called; nil means unchanged
	Near     []Near    // near misses (see [Near]); an entry without a reason removes a near miss
}

// A NetDelta is the new state of a net.
type NetDelta struct {
	Net int // index of the net in the policy

	// Key is the key value that Data belongs to. It is empty for a net without a key and for the
	// default state (see [NetData]). The state for a value is stored only if it differs from the
	// default state.
	Key  string
	Data *NetData
}

// set makes data the new state of the net or, if key is not empty, of a single key value. It
// replaces an earlier change to the same state.
func (d *Delta) set(net int, key string, data *NetData) {
	for i := len(d.Nets) - 1; i >= 0; i-- {
		if n := &d.Nets[i]; n.Net == net && n.Key == key {
			n.Data = data
			return
		}
	}
	d.Nets = append(d.Nets, NetDelta{Net: net, Key: key, Data: data})
}

// stateOf returns the new state of the net or, if key is not empty, of a single key value. It returns
// nil if the state is unchanged.
func (d *Delta) stateOf(net int, key string) *NetData {
	for i := range d.Nets {
		if n := &d.Nets[i]; n.Net == net && n.Key == key {
			return n.Data
		}
	}
	return nil
}

// NewState returns the initial state. The nets named in active are active; if active is nil, all
// nets are.
func (p *Policy) NewState(active []string) *State {
	s := &State{Nets: make([]*NetData, len(p.nets)), policy: p}
	on := make(map[string]bool, len(active))
	for _, name := range active {
		on[name] = true
	}
	for i, n := range p.nets {
		if s.Nets[i] = n.off; active == nil || on[n.Name] {
			s.Nets[i] = n.on
		}
	}
	return s
}

// Apply performs the change d, which must have been computed for the current state. If d would
// leave a negative number of tokens, Apply panics without changing anything.
func (s *State) Apply(d *Delta) {
	if d == nil {
		return
	}
	for i := range d.Nets {
		if netstate.HasNegative(d.Nets[i].Data) { // only a bug in this package can cause this; panic rather than let calls pass
			panic("gate: a place has a negative number of tokens")
		}
	}
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
		s.releaseID(a.Call.ID)
		delete(s.Asks, d.Answered)
	}
	if c := s.Calls[d.Closed]; c != nil {
		s.releaseID(c.Call.ID)
		delete(s.Calls, d.Closed)
	}
	if d.Would != "" {
		s.Would.add(d.Would)
	}
	if d.Tools != nil {
		s.Tools = d.Tools
	}
	for i := range d.Near {
		s.storeNear(&d.Near[i])
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

// applyValues performs the changes in d to the states of single key values.
func (s *State) applyValues(d *Delta) {
	last := -1 // index of the net that the previous change applied to, or -1
	for i := range d.Nets {
		if n := &d.Nets[i]; n.Key != "" {
			s.Nets[n.Net] = netstate.With(s.Nets[n.Net], n.Key, n.Data, n.Net == last)
			last = n.Net
		}
	}
}

// addCall adds an admitted call to the open calls.
func (s *State) addCall(c *OpenCall) {
	if s.Calls == nil {
		s.Calls = make(map[uint64]*OpenCall)
	}
	s.Calls[c.Number] = c
}

// countID records that another open call or question has the given ID.
func (s *State) countID(id string) {
	if s.ids == nil {
		s.ids = make(map[string]int)
	}
	s.ids[id]++
}

func (s *State) releaseID(id string) {
	if s.ids[id]--; s.ids[id] == 0 {
		delete(s.ids, id)
	}
}

// flight returns a [Flight] that identifies a call in the state of the net n. The caller must set
// Transition and Name before storing the Flight.
func (s *State) flight(n *net, number uint64, since time.Time) Flight {
	return Flight{Owner: s.Owners[n.Scope], Call: number, Since: since}
}

// Clone returns a copy of s; applying a [Delta] to the copy does not affect s.
func (s *State) Clone() *State {
	c := *s
	c.Nets = slices.Clone(s.Nets)
	c.Calls, c.Asks, c.ids = maps.Clone(s.Calls), maps.Clone(s.Asks), maps.Clone(s.ids)
	c.Spent = slices.Clip(s.Spent)
	return &c
}

// maxNear is the maximum number of names with a stored near miss; see [Near].
const maxNear = 16

// storeNear stores n, replacing an earlier near miss for the same name. If n has no reason, it only
// removes the earlier one.
func (s *State) storeNear(n *Near) {
	kept := slices.DeleteFunc(slices.Clone(s.Near), func(o Near) bool { return o.Name == n.Name })
	if n.Why.What != "" {
		kept = append(kept, *n)
	}
	s.Near = kept[max(0, len(kept)-maxNear):]
}

// wait records that the last net in c.Nets waits for the call to end. The net waits in its state
// for the given key value.
func (c *OpenCall) wait(key string) {
	for len(c.Keys) < len(c.Nets)-1 {
		c.Keys = append(c.Keys, "")
	}
	c.Keys = append(c.Keys, key)
}

func (c *OpenCall) holder() Holder {
	return Holder{Number: c.Number, ID: c.Call.ID, Tool: c.Call.Tool, Since: c.Call.Time, Unknown: c.Unknown, More: c.More}
}

// holder describes the call that the [Flight] f of the net n identifies.
func (s *State) holder(n *net, f Flight) Holder {
	other := f.Owner != s.Owners[n.Scope]
	if c := s.Calls[f.Call]; c != nil && !other {
		return c.holder()
	}
	return Holder{Number: f.Call, Tool: f.Name, Since: f.Since, Other: other}
}
