package verify_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A board caches every explored position together with the gate's decisions there, for use by all
// claims.
type board struct {
	policy *gate.Policy
	calls  []*gate.Prepared
	index  map[string]*position
	start  *position
}

// A position is a state of the gate together with the admitted calls that a net waits for.
type position struct {
	s    *gate.State
	open []flying
	key  string

	moves   []move   // by call; nil until decided
	endings []ending // nil until computed
}

// A flying call is a call in flight.
type flying struct {
	number uint64
	call   int // index of the call
}

// A move is the decision about a call.
type move struct {
	ok, manual bool
	steps      []gate.Step
	nets       []gate.Verdict
	next       *position // position with the call in flight; nil if too many equal calls are in flight
	done       *position // position after the call's success
}

// An ending is the end of a call in flight.
type ending struct {
	call    int
	number  uint64
	outcome gate.Outcome
	next    *position
}

// table returns the board for b's calls, creating it when first needed.
func (b *brute) table() *board {
	if b.played != nil {
		return b.played
	}
	t := &board{policy: b.policy, index: make(map[string]*position)}
	for _, c := range b.calls {
		t.calls = append(t.calls, b.policy.Prepare(c))
	}
	t.start = t.at(b.policy.NewState(nil), nil)
	b.played = t
	return t
}

// at returns the position for a state. Calls that no net waits for do not count as open.
func (t *board) at(s *gate.State, open []flying) *position {
	key, open := keyOf(s, open)
	if at := t.index[string(key)]; at != nil {
		return at
	}
	at := &position{s: s, open: open, key: string(key)}
	t.index[at.key] = at
	return at
}

// movesOf returns the decisions about all calls.
func (b *brute) movesOf(at *position) []move {
	if at.moves != nil {
		return at.moves
	}
	t := b.table()
	at.moves = make([]move, len(b.calls))
	for c, call := range b.calls {
		now, ok := beginPrepared(t.calls[c], at.s)
		if !ok {
			continue
		}
		m := &at.moves[c]
		*m = move{ok: true, manual: now.manual, steps: now.steps, nets: now.nets}
		if isTick(call) {
			m.next = t.at(now.state, at.open)
			m.done = m.next
			continue
		}
		m.done = t.at(settleWith(b.policy, now.state, now.number, gate.Success, b.result(c)), at.open)
		if alike(now.state) <= bruteAlike {
			m.next = t.at(now.state, append(slices.Clip(at.open), flying{now.number, c}))
		}
	}
	return at.moves
}

// endingsOf returns the possible ends of the calls in flight.
func (b *brute) endingsOf(at *position) []ending {
	if at.endings != nil || len(at.open) == 0 {
		return at.endings
	}
	t := b.table()
	for i, f := range at.open {
		for _, o := range []gate.Outcome{gate.Success, gate.Failure, gate.Unknown} {
			open := at.open
			if o != gate.Unknown {
				open = slices.Delete(slices.Clone(open), i, i+1)
			}
			next := t.at(settleWith(b.policy, at.s, f.number, o, b.result(f.call)), open)
			at.endings = append(at.endings, ending{f.call, f.number, o, next})
		}
	}
	return at.endings
}

// result returns the result of the call if it succeeds.
func (b *brute) result(call int) string {
	if b.results == nil || call == unknownCall {
		return ""
	}
	return b.results[call]
}

// held describes, as text, what nets hold of a call.
type held struct {
	call uint64
	text []byte
}

// heldIn returns what nets hold of each call.
func heldIn(s *gate.State) (all []held) {
	for i, base := range s.Nets {
		all = appendHeld(all, i, "", base)
		if base.Values.Len() > 0 {
			for _, value := range valuesOf(base) {
				all = appendHeld(all, i, value, base.Values.Get(value))
			}
		}
	}
	return all
}

func appendHeld(all []held, net int, value string, d *gate.NetData) []held {
	for kind, flights := range [...][]gate.Flight{d.Flights, d.Watches, d.Spoilers(), d.Lapsed()} {
		for _, f := range flights {
			i := slices.IndexFunc(all, func(h held) bool { return h.call == f.Call })
			if i < 0 {
				i = len(all)
				all = append(all, held{call: f.Call})
			}
			all[i].text = append(all[i].text, byte(net), byte(kind), byte(f.Transition), byte(len(value)))
			all[i].text = append(all[i].text, value...)
		}
	}
	return all
}

// alike groups the calls that nets hold the same about. It returns the size of the largest group.
func alike(s *gate.State) (most int) {
	all := heldIn(s)
	for i := range all {
		count := 0
		for k := range all {
			if bytes.Equal(all[i].text, all[k].text) {
				count++
			}
		}
		most = max(most, count)
	}
	return most
}

// keyOf returns a key of the position. It includes only those open calls that a net waits for.
func keyOf(s *gate.State, open []flying) ([]byte, []flying) {
	k := make([]byte, 0, 128)
	for _, base := range s.Nets {
		k = appendState(k, base)
		if base.Values.Len() > 0 {
			for _, value := range valuesOf(base) {
				k = append(append(k, value...), 0)
				k = appendState(k, base.Values.Get(value))
			}
		}
		k = append(k, '/')
	}
	all := heldIn(s)
	kept, lost := make([]held, 0, len(open)), false
	for _, f := range open {
		if i := slices.IndexFunc(all, func(h held) bool { return h.call == f.number }); i >= 0 {
			kept = append(kept, held{text: append(slices.Clip(all[i].text), byte(f.call), byte(f.call>>8))})
		} else {
			lost = true
		}
	}
	if lost {
		open = slices.DeleteFunc(slices.Clone(open), func(f flying) bool {
			return !slices.ContainsFunc(all, func(h held) bool { return h.call == f.number })
		})
	}
	slices.SortFunc(kept, func(a, b held) int { return cmp.Or(len(a.text)-len(b.text), bytes.Compare(a.text, b.text)) })
	for _, h := range kept {
		k = binary.AppendUvarint(k, uint64(len(h.text)))
		k = append(k, h.text...)
	}
	return k, open
}

// appendState appends the state of a net, or of a value of its key, without calls: the marking, the
// row of equal calls, and sums.
func appendState(k []byte, d *gate.NetData) []byte {
	for _, tokens := range d.Marking {
		k = binary.AppendUvarint(k, uint64(tokens))
	}
	if d.Stuck {
		k = append(k, '!')
	}
	if row := d.Row(); row != "" {
		k = append(append(k, 'r'), row...)
	}
	if d.Spent != nil {
		k = append(append(k, 's'), d.Spent.Amount.String()...)
	}
	return append(k, ';')
}

func sameState(s *gate.State) string {
	k, _ := keyOf(s, nil)
	return string(k)
}
