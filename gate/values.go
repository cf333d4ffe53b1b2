package gate

import (
	"encoding/binary"
	"iter"
	"slices"
)

// Values are the states of a net for the values of its key, but for those values
// whose state is that of the net at large. They are replaced and never changed. A nil
// pointer has none.
type Values struct {
	states trie
	plain  trie // states without anything but a marking, by that: equal ones are one
}

// maxPlain bounds the states that are kept so that equal ones are one.
const maxPlain = 1000

// Len returns how many there are.
func (v *Values) Len() int {
	if v == nil {
		return 0
	}
	return v.states.size
}

// Get returns the state for a value, or nil. A value is known by the text that
// [NetDelta.Key] has.
func (v *Values) Get(key string) *NetData {
	if v == nil {
		return nil
	}
	return v.get(hashOf(key), key)
}

// get is [Values.Get] of a value with this hash.
func (v *Values) get(hash uint64, key string) *NetData {
	if v == nil {
		return nil
	}
	if e := v.states.get(hash, key); e != nil {
		return e.state()
	}
	return nil
}

// All yields each value with its state, in no particular order.
func (v *Values) All() iter.Seq2[string, *NetData] {
	return func(yield func(string, *NetData) bool) {
		if v != nil {
			v.states.all(func(e *trieEntry) bool { return yield(e.text, e.state()) })
		}
	}
}

// state returns the state with its clock and with what is spent.
func (e *trieEntry) state() *NetData {
	if e.clock == nil && e.spent == nil {
		return e.data
	}
	d := *e.data
	d.Clock = e.clock
	if e.spent != nil {
		d.Spent = e.spent.large()
	}
	return &d
}

// put sets the state for a value; v must not be shared yet.
func (v *Values) put(key string, d *NetData) {
	e := &trieEntry{hash: hashOf(key), text: key}
	v.share(e, d)
	v.states = v.states.with(e)
}

// drop removes the state for a value; v must not be shared yet.
func (v *Values) drop(key string) { v.states = v.states.without(hashOf(key), key) }

// share gives e a state equal to d, without its clock and without what is spent where
// many values can have it.
func (v *Values) share(e *trieEntry, d *NetData) {
	own := *d // d can be part of something larger
	e.data = &own
	spent, small := d.Spent.small()
	if !small || !d.plain() {
		return
	}
	e.clock, e.spent = d.Clock, spent
	var room [32]byte
	text := d.appendPlain(room[:0])
	hash := hashOf(string(text))
	if same := v.plain.get(hash, string(text)); same != nil {
		e.data = same.data
		return
	}
	own.Clock, own.Spent, own.Marking = nil, nil, slices.Clone(d.Marking)
	if v.plain.size >= maxPlain {
		v.plain = trie{}
	}
	v.plain = v.plain.with(&trieEntry{hash: hash, text: string(text), data: &own})
}

// plain reports whether the state is nothing but a marking, and perhaps a clock and what
// is spent.
func (d *NetData) plain() bool {
	return len(d.Flights)+len(d.Watches)+len(d.Spoilers())+len(d.Lapsed())+len(d.Meta) == 0 && d.Shadow == nil
}

// appendPlain appends what distinguishes plain states of one net.
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
		text = binary.AppendUvarint(text, uint64(tokens)) // never negative, see [Delta.check]
	}
	return text
}

// with returns the state of a net with that of one value; fresh says that d is not
// shared yet. A value whose state is that of the net at large is removed.
func (d *NetData) with(key string, of *NetData, fresh bool) *NetData {
	if !fresh {
		c := *d
		values := Values{}
		if d.Values != nil {
			values = *d.Values
		}
		c.Values = &values
		d = &c
	}
	if of.like(d) {
		d.Values.drop(key)
	} else {
		d.Values.put(key, of)
	}
	return d
}

// like reports whether the state d for a value is that of the net at large, and
// nothing is in flight, watched or spent.
func (d *NetData) like(base *NetData) bool {
	return d.Stuck == base.Stuck && d.Spent == nil && len(d.Flights)+len(d.Watches)+len(d.Spoilers())+len(d.Meta) == 0 &&
		slices.Equal(d.Marking, base.Marking) && slices.Equal(d.Lapsed(), base.Lapsed()) && d.Clock.like(base.Clock) &&
		(d.Shadow == nil || d.Shadow.Enforced.like(base.Shadow.Enforced))
}

// like reports whether both clocks tick at the same times.
func (c *Clock) like(o *Clock) bool {
	timed := 0
	if c != nil {
		timed = len(c.Since)
	}
	if o != nil {
		timed = max(timed, len(o.Since))
	}
	for k := range timed {
		if !c.since(k).Equal(o.since(k)) {
			return false
		}
	}
	return true
}
