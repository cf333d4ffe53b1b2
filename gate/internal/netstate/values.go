package netstate

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/trie"
)

// maxPlain is the maximum number of states in the pool of shared states.
const maxPlain = 1000

// Len returns the number of entries.
func (v *Values) Len() int {
	if v == nil {
		return 0
	}
	return v.states.Len()
}

// Get returns the state for a key value, or nil if the value has no entry. key is the value's
// canonical string.
func (v *Values) Get(key string) *NetData {
	if v == nil {
		return nil
	}
	return GetHashed(v, trie.Hash(key), key)
}

// GetHashed is like [Values.Get], for a value with a known hash; see [trie.Hash].
func GetHashed(v *Values, hash uint64, key string) *NetData {
	if v == nil {
		return nil
	}
	if e := v.states.Get(hash, key); e != nil {
		return e.Value.state()
	}
	return nil
}

// All yields each key value and its state, in no particular order.
func (v *Values) All() iter.Seq2[string, *NetData] {
	return func(yield func(string, *NetData) bool) {
		if v != nil {
			v.states.All(func(e *trie.Entry[storedState]) bool { return yield(e.Text, e.Value.state()) })
		}
	}
}

// state returns the complete state, including the clock and the spent amount.
func (k *storedState) state() *NetData {
	if k.clock == nil && k.spent == nil {
		return k.data
	}
	d := *k.data
	d.Clock = k.clock
	if k.spent != nil {
		d.Spent = k.spent.expand()
	}
	return &d
}

// Put sets the state for a value. v must not be shared yet.
func Put(v *Values, key string, d *NetData) {
	e := &trie.Entry[storedState]{Hash: trie.Hash(key), Text: key}
	v.share(&e.Value, d)
	v.states = v.states.With(e)
}

// share stores the state d in *k. To save memory, plain states (see isPlain) that differ only in
// their clocks and in the amounts spent share all other data.
func (v *Values) share(k *storedState, d *NetData) {
	own := *d // a copy, because d may be part of a larger object that should be freed
	k.data = &own
	spent, small := d.Spent.compact()
	if !small || !d.isPlain() {
		return
	}
	k.clock, k.spent = d.Clock, spent
	var room [32]byte
	text := d.appendPlain(room[:0])
	hash := trie.Hash(string(text))
	if same := v.pool.Get(hash, string(text)); same != nil {
		k.data = same.Value.data
		return
	}
	own.Clock, own.Spent, own.Marking = nil, nil, slices.Clone(d.Marking)
	if v.pool.Len() >= maxPlain {
		v.pool = trie.Trie[storedState]{}
	}
	v.pool = v.pool.With(&trie.Entry[storedState]{Hash: hash, Text: string(text), Value: storedState{data: &own}})
}

// MapValues applies f to each state in values and returns the new states. It omits those that equal
// base, the default state. If values is empty, the result is nil.
func MapValues(values *Values, base *NetData, f func(*NetData) *NetData) *Values {
	if values.Len() == 0 {
		return nil
	}
	mapped := &Values{}
	for key, old := range values.All() {
		if d := f(old); !EqualsDefault(d, base) {
			Put(mapped, key, d)
		}
	}
	return mapped
}

// isPlain reports whether d consists only of a marking and perhaps a clock and a spent amount.
func (d *NetData) isPlain() bool {
	return len(d.Flights)+len(d.Watches)+len(d.Meta) == 0 && d.Extras == nil && d.Shadow == nil
}

// appendPlain appends an encoding of d, which must be plain (see isPlain). Different plain states
// of a net have different encodings.
func (d *NetData) appendPlain(text []byte) []byte {
	flags := byte(0)
	if d.Active {
		flags |= 1
	}
	if d.Stuck {
		flags |= 2
	}
	text = append(text, flags)
	for _, tokens := range d.Marking {
		text = binary.AppendUvarint(text, uint64(tokens)) // the count is not negative; see [HasNegative]
	}
	return text
}

// With returns a copy of the default state d with a new state for the given key value. A new state
// equal to d is not stored. If fresh is true, With modifies and returns d itself, which must not be
// shared yet.
func With(d *NetData, key string, value *NetData, fresh bool) *NetData {
	if !fresh {
		c := *d
		values := Values{}
		if d.Values != nil {
			values = *d.Values
		}
		c.Values = &values
		d = &c
	}
	if EqualsDefault(value, d) {
		d.Values.states = d.Values.states.Without(trie.Hash(key), key)
	} else {
		Put(d.Values, key, value)
	}
	return d
}

// Distinct yields the net's default state (see [NetData]) and the states for its key values. A
// state shared by several values may be yielded only once.
func Distinct(d *NetData) func(yield func(*NetData) bool) {
	return func(yield func(*NetData) bool) {
		if !yield(d) || d.Values == nil {
			return
		}
		seen := make(map[*NetData]bool)
		d.Values.states.All(func(e *trie.Entry[storedState]) bool {
			k := &e.Value
			whole := k.clock == nil && k.spent == nil
			if whole && seen[k.data] {
				return true
			}
			seen[k.data] = seen[k.data] || whole
			return yield(k.state())
		})
	}
}

// Switched returns a copy of d with the net activated or deactivated.
func Switched(d *NetData, active bool) *NetData {
	c := *d
	c.Active = active
	if !active {
		c.Watches, c.Clock = nil, nil
		if c.Spent != nil {
			c.Spent = &Spent{Amount: c.Spent.Amount}
		}
	}
	if c.Shadow != nil {
		c.Shadow = WithEnforced(c.Shadow, Switched(c.Shadow.Enforced, active))
	}
	if c.Values.Len() > 0 {
		values := &Values{}
		for key, d := range d.Values.All() {
			Put(values, key, Switched(d, active))
		}
		c.Values = values
	}
	return &c
}
