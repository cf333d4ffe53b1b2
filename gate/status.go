package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/list"
)

// A NetState is a copy of a net's state.
type NetState struct {
	Name     string
	Scope    Scope
	Active   bool
	Shadow   bool
	Moved    bool      // whether the net has left its initial state or waits for a call
	Static   bool      // whether switching the net at run time is forbidden
	Marking  Marking   // marking, with tokens in flight counted in the places they came from
	Enforced Marking   // marking that would have resulted if the nets in shadow mode had blocked calls; nil unless the net is in shadow mode
	Next     time.Time // time when the clock will next fire a transition, as of the last Tick; zero means never or unknown
	Spent    string    // amount spent, such as "120.50 of 1000 per day"; empty unless the net has a sum
	InFlight []InFlight
	Spoilers []InFlight // calls in flight that keep other calls from counting until they end; see [Transition.Spoils]
	Meta     Meta

	// For a net with a key, Marking is the marking of the default state; see [NetData]. Values
	// lists up to ten key values whose states differ from the default state, starting with those
	// that differ most. More is the number of further such values.
	Key    string // the key's fields as written; empty if the net has no key
	Values []ValueState
	More   int
}

// A ValueState is a copy of a net's state for a single value of its key.
type ValueState struct {
	Key      []KeyValue
	Marking  Marking // this field and those below are as in [NetState]
	Enforced Marking
	Next     time.Time
	Spent    string
	InFlight []InFlight
	Spoilers []InFlight
}

// InFlight describes a transition that waits for a call to end. The transition is either deferred
// or has [Transition.Spoils].
type InFlight struct {
	Transition string
	Call       uint64
	Name       string // the name or pattern that makes the transition apply to the call
	Other      bool   // whether the call belongs to another session
}

// valuesOf returns the states for key values that differ from the default state, starting with
// those that differ most. It returns at most shownValues states, together with the number of states
// left out.
func (s *State) valuesOf(n *net, base *NetData) ([]ValueState, int) {
	type ranked struct {
		text     string
		data     *NetData
		distance int
	}
	var all []ranked
	start := n.withInFlight(base.Deciding())
	for text, d := range base.Values.All() {
		r := ranked{text: text, data: d}
		for i, tokens := range n.withInFlight(d.Deciding()) {
			r.distance += max(tokens-start[i], start[i]-tokens)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.distance, a.distance), strings.Compare(a.text, b.text))
	})
	shown := all[:min(len(all), shownValues)]
	var values []ValueState
	for _, r := range shown {
		v := s.valueState(n, r.data)
		v.Key = n.written.ParseText(r.text)
		values = append(values, v)
	}
	return values, len(all) - len(shown)
}

// valueState describes d, the state of n for a single key value. It leaves ValueState.Key empty.
func (s *State) valueState(n *net, d *NetData) ValueState {
	v := ValueState{Marking: n.show(d), Spent: n.spending(d.Deciding()), InFlight: s.inFlight(n, d.Flights), Spoilers: s.inFlight(n, d.Spoilers())}
	if n.Shadow {
		v.Enforced = n.show(d.Shadow.Enforced)
	}
	_, v.Next = n.nextTick(d.Deciding())
	return v
}

// state describes v as text: the key value, the markings, the spent amount and the time of the next
// clock change.
func (v *ValueState) state() string {
	text := fmt.Sprintf("%s: %s", keyvalue.Format(v.Key), cmp.Or(v.Marking.String(), "no tokens"))
	if v.Enforced != nil {
		text += "; enforced: " + v.Enforced.String()
	}
	if v.Spent != "" {
		text += "; spent: " + v.Spent
	}
	if !v.Next.IsZero() {
		text += "; next at " + v.Next.UTC().Format(time.RFC3339)
	}
	return text
}

// Nets returns the state of every net, in policy order.
func (s *Session) Nets() (nets []NetState) { return read(s, s.policy.NetsOf) }

// NetsOf returns the state of every net in s, in policy order.
func (p *Policy) NetsOf(s *State) []NetState {
	var nets []NetState
	for i, n := range p.nets {
		nets = append(nets, s.stateOf(n, s.Nets[i]))
	}
	return nets
}

func (s *State) stateOf(n *net, data *NetData) NetState {
	v := s.valueState(n, data)
	state := NetState{
		Name: n.Name, Scope: n.Scope, Active: data.Active, Shadow: n.Shadow, Static: n.Static, Moved: n.moved(data) || n.moved(data.Deciding()),
		Marking: v.Marking, Enforced: v.Enforced, Next: v.Next, Spent: v.Spent, InFlight: v.InFlight, Spoilers: v.Spoilers, Meta: maps.Clone(data.Meta),
	}
	if len(n.keys) > 0 {
		state.Key = n.written.Names()
		state.Values, state.More = s.valuesOf(n, data)
	}
	return state
}

func (s *State) inFlight(n *net, flights []Flight) []InFlight {
	return list.Map(flights, func(f Flight) InFlight {
		return InFlight{Transition: n.Transitions[f.Transition].Name, Call: f.Call, Name: f.Name, Other: f.Owner != s.Owners[n.Scope]}
	})
}

// Status describes the state of each net on its own line. The line contains the net's name, whether
// it is active, its scope unless that is the session, whether it is in shadow mode, and the result
// of [NetState.String]. To advance the clocks first, call [Session.Tick].
func (s *Session) Status() string {
	var b strings.Builder
	for _, n := range s.Nets() {
		fmt.Fprintf(&b, "%s (%s): %s\n", n.Name, strings.Join(n.attributes(), ", "), &n)
	}
	return b.String()
}

func (n *NetState) attributes() []string {
	a := []string{"active"}
	if !n.Active {
		a[0] = "inactive"
	}
	if n.Scope != ScopeSession {
		a = append(a, n.Scope.String())
	}
	if n.Shadow {
		a = append(a, "shadow")
	}
	return a
}

// String returns the marking, the enforced marking in shadow mode, the spent amount, the calls that
// keep other calls from counting (see [Transition.Spoils]), and the time of the next clock change.
// If the net has a key, the states in n.Values follow.
func (n *NetState) String() string {
	text := n.Marking.String()
	if n.Shadow {
		text += "; enforced: " + n.Enforced.String()
	}
	if n.Spent != "" {
		text += "; spent: " + n.Spent
	}
	for _, f := range n.Spoilers {
		where := ""
		if f.Other {
			where = " in another session"
		}
		text += fmt.Sprintf("; evidence spoiled by call %d of %s%s", f.Call, f.Name, where)
	}
	if !n.Next.IsZero() {
		text += "; next at " + n.Next.UTC().Format(time.RFC3339)
	}
	if n.Key == "" {
		return text
	}
	text += " for each " + n.Key
	for i := range n.Values {
		text += "; " + n.Values[i].state()
	}
	if n.More > 0 {
		text += fmt.Sprintf("; and %d more", n.More)
	}
	return text
}

// An Enabled is a transition that could fire now for a call to any of its tools. In a net with a
// key, the transition might be able to fire for some key values only.
type Enabled struct {
	Net, Transition string
	Tools           []Tool
	Manual          bool
	Shadow          bool // whether the net is in shadow mode and thus forbids nothing
}

// Enabled lists the enabled transitions of the active nets, except transitions without tools.
func (s *Session) Enabled() []Enabled {
	return read(s, func(state *State) (list []Enabled) {
		for i, n := range s.policy.nets {
			if data := state.Nets[i]; data.Active {
				list = append(list, n.enabled(data)...)
			}
		}
		return list
	})
}

func (n *net) enabled(data *NetData) (list []Enabled) {
	on := n.canFire(data)
	for i, t := range n.Transitions {
		if len(t.Tools) > 0 && on[i] {
			list = append(list, Enabled{Net: n.Name, Transition: t.Name, Tools: slices.Clone(t.Tools), Manual: t.Manual, Shadow: n.Shadow})
		}
	}
	return list
}

// canFire reports, for each transition, whether it is enabled. In a net with a key, it reports
// whether the transition is enabled for any key value.
func (n *net) canFire(data *NetData) []bool {
	on := make([]bool, len(n.Transitions))
	for d := range netstate.Distinct(data) {
		for i := range on {
			on[i] = on[i] || !d.Deciding().Stuck && n.net.Transitions[i].Enabled(d.Deciding().Marking)
		}
	}
	return on
}

// Left returns how many more calls the verdict's transition allows before its tokens are used up.
// It does not count tokens that will be returned later. ok is true only if the transition belongs
// to a limit that uses up tokens, and false for limits on sums, concurrent calls and consecutive
// identical calls.
func (s *Session) Left(v Verdict) (calls int, ok bool) {
	s.update(func(state *State) *Delta {
		calls, ok = s.policy.Left(state, v)
		return nil
	})
	return calls, ok
}

// Left is like [Session.Left], but for state s.
func (p *Policy) Left(s *State, v Verdict) (calls int, ok bool) {
	n := p.byName[v.Net]
	if n == nil || n.Cause != CauseLimit || n.Row {
		return 0, false
	}
	t := slices.IndexFunc(n.Transitions, func(t Transition) bool { return t.Name == v.Transition })
	if t < 0 {
		return 0, false
	}
	data := s.Nets[n.index]
	if d := data.Values.Get(keyvalue.Text(v.Key)); d != nil {
		data = d
	}
	return n.net.Transitions[t].Remaining(data.Deciding().Marking)
}

// Prompt describes the active nets for use in a model's prompt. For each net, it lists the tools of
// the transitions that are enabled now, except those with [Transition.Spoils]. It also lists the
// tools that the net always allows, and describes the net's state.
func (s *Session) Prompt() string {
	return read(s, func(state *State) string {
		text := "## Active Petri Nets\n"
		for i, n := range s.policy.nets {
			if data := state.Nets[i]; data.Active {
				text += n.describe(state.stateOf(n, data), data)
			}
		}
		return text
	})
}

func (n *net) describe(s NetState, d *NetData) string {
	var tools []string
	on := n.canFire(d)
	for i := range n.Transitions {
		if !on[i] || n.Transitions[i].Spoils { // a transition with Spoils gates no tools
			continue
		}
		for _, t := range n.Transitions[i].Tools {
			if !slices.Contains(tools, t.Name) {
				tools = append(tools, t.Name)
			}
		}
	}
	head := n.Name
	if about := s.attributes()[1:]; len(about) > 0 {
		head += " (" + strings.Join(about, ", ") + ")"
	}
	return fmt.Sprintf("\n### %s\nAvailable gated tools: %s\nFree tools: %s\nState: %s\n",
		head, listOrNone(tools), listOrNone(n.Free), &s)
}
