package callclass

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// A net with a key is verified for a single arbitrary value of the key, the tracked value.
// Different values never interact in a net. By symmetry, a property that holds for the tracked
// value therefore holds for all values. The class of a call specifies, for each field that a key
// reads, whether the field has the tracked value. Fields that are compared with each other, and
// fields with the same name, form a [sort] and share a tracked value.

// Presence describes whether a field of a call has the tracked value.
type Presence uint8

const (
	Same  Presence = iota // the field has the tracked value
	Lacks                 // the field cannot be read
	Other                 // the field has a value other than the tracked one
)

// A Datum is a field that a key or an assertion reads from calls of a class, with the field's
// [Presence].
type Datum struct {
	Field gate.Field // the field, normalized for comparison
	Has   Presence
	sort  int
}

// A Reading is a field together with the name of the calls that the field is read from.
type Reading struct {
	Tool  gate.Tool
	Field gate.Field
}

// A sort is a set of fields that are compared with each other.
type sort struct {
	fields []gate.Field
	texts  [2]string // strings for the tracked value and for one other value; if possible, no map statement for these fields matches them
}

// normalize returns f without the parts that do not affect the value read.
func normalize(f gate.Field) gate.Field {
	f.Source = ""
	if key, ok := strings.CutPrefix(f.Path, "$."); ok && !strings.ContainsAny(key, `.["`) {
		f.Path = key
	}
	return f
}

// Values holds concrete values for the calls of a run. For each [sort], a set of fields with
// comparable values, it holds the tracked value and one other value.
type Values struct {
	same, other map[int]literal
}

// A literal is the text of a JSON value.
type literal string

// MarshalJSON returns the literal unchanged.
func (l literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }

// element returns the only element of a single-element array. It returns any other literal
// unchanged.
func (l literal) element() literal {
	var elements []json.RawMessage
	if json.Unmarshal([]byte(l), &elements) == nil && len(elements) == 1 {
		return literal(elements[0])
	}
	return l
}

// quoteJSON returns text as a JSON string literal.
func quoteJSON(text string) literal {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // encoding a string cannot fail
	}
	return literal(b)
}

// keyFields returns the fields that the net's key reads from calls to the tools of the given
// transition, or nil if the net has no key.
func (n *Net) keyFields(transition int) []gate.Field {
	return n.Info.KeyOf(&n.Info.Transitions[transition])
}

// KeyOf returns the fields that the net's key reads from calls to tool t, or nil if the net has no
// key or does not list the tool.
func (n *Net) KeyOf(t gate.Tool) []gate.Field {
	for i := range n.Info.Transitions {
		listed := slices.ContainsFunc(n.Info.Transitions[i].Tools, func(u gate.Tool) bool { return u.Name == t.Name && u.Kind == t.Kind })
		if key := n.keyFields(i); listed && len(key) > 0 {
			return key
		}
	}
	return nil
}

// Keyed reports whether the net has a key.
func (n *Net) Keyed() bool {
	return slices.ContainsFunc(n.Info.Transitions, func(t gate.Transition) bool { return len(t.Key) > 0 }) || len(n.Info.Key) > 0
}

// findSorts groups fields into sorts: the fields that keys read, and the fields in compared. Fields
// that nets or assertions compare with each other belong to the same [sort].
func (b *fieldTable) findSorts(compared [][]Reading) {
	of := make(map[gate.Field]int)
	put := func(f gate.Field, number int) int {
		f = normalize(f)
		old, known := of[f]
		switch {
		case !known && number < 0:
			number = len(b.sorts)
			b.sorts = append(b.sorts, &sort{fields: []gate.Field{f}})
		case !known:
			b.sorts[number].fields = append(b.sorts[number].fields, f)
		case number < 0 || number == old:
			return old
		default: // the field belongs to two sorts, so merge them
			for _, g := range b.sorts[old].fields {
				of[g] = number
			}
			b.sorts[number].fields = append(b.sorts[number].fields, b.sorts[old].fields...)
			b.sorts[old].fields = nil
		}
		of[f] = number
		return number
	}
	for _, n := range b.nets {
		var numbers []int
		for t := range n.Info.Transitions {
			for i, f := range n.keyFields(t) {
				if i == len(numbers) {
					numbers = append(numbers, -1)
				}
				numbers[i] = put(f, numbers[i])
			}
		}
	}
	for _, alike := range compared {
		number := -1
		for _, r := range alike {
			number = put(r.Field, number)
		}
		b.asked = append(b.asked, alike...)
	}
	b.sortOf = of
	for _, n := range b.nets {
		for t := range n.Info.Transitions {
			n.crossed = n.crossed || b.Crossed(n.keyFields(t))
		}
	}
	for _, s := range b.sorts {
		b.findTexts(s)
	}
}

// Crossed reports whether two fields of a key belong to the same [sort]. A key can then contain two
// different values of the sort, but the model tracks only one of them.
func (b *fieldTable) Crossed(key []gate.Field) bool {
	seen := make(map[int]bool)
	for _, f := range key {
		sort, known := b.sortOf[normalize(f)]
		if known && seen[sort] {
			return true
		}
		seen[sort] = true
	}
	return false
}

// valueTexts lists candidates for the strings that represent key values in sample calls.
var valueTexts = []string{"x", "y", "z", "main", "other", "k1", "k2", "1", "2", "a-b", "c-d", "#", "-"}

// findTexts chooses the strings that represent the tracked value and one other value of the sort.
// It prefers strings that no map statement for a field of s matches.
func (b *fieldTable) findTexts(s *sort) {
	s.texts = [2]string{valueTexts[0], valueTexts[1]}
	free := list.Filter(valueTexts, func(text string) bool {
		return !slices.ContainsFunc(b.maps, func(m *mapping) bool { return s.has(m.Field) && m.matches(text) })
	})
	if len(free) > 1 {
		s.texts = [2]string{free[0], free[1]}
	}
}

// has reports whether some field of the sort equals or overlaps the given field.
func (s *sort) has(field string) bool {
	return field != "" && slices.ContainsFunc(s.fields, func(f gate.Field) bool { return f.Path != "" && (f.Path == field || overlap(f.Path, field)) })
}

// maxData is the maximum number of tracked fields per tool.
const maxData = 4

// data returns the fields that keys and assertions read from calls of class s. If some of the
// fields cannot be tracked, data also returns the reason.
func (b *fieldTable) data(s *Class) (data []Datum, why string) {
	add := func(f gate.Field) {
		f = normalize(f)
		if !slices.ContainsFunc(data, func(d Datum) bool { return d.Field == f }) {
			data = append(data, Datum{Field: f, sort: b.sortOf[f]})
		}
	}
	for _, e := range s.Effects {
		n := b.nets[e.Net]
		if !n.Keyed() {
			continue
		}
		if n.crossed {
			why = "a key contains two fields of %s that keys also compare with each other"
		}
		for _, a := range n.Meanings.List[e.Meaning] {
			for _, t := range slices.Concat(a.Transitions, a.Spoilers) {
				for _, f := range n.keyFields(t) {
					add(f)
				}
			}
		}
	}
	for _, r := range b.asked {
		if s.Carries(r.Tool, false) {
			add(r.Field)
		}
	}
	if len(data) > maxData {
		why = fmt.Sprintf("keys read more than %d fields of %%s", maxData)
	}
	return data[:min(len(data), maxData)], why
}

// eachPresence calls the given function for every combination of the fields' [Presence] values. For
// a field of the call's result, it uses only [Same] and [Lacks].
func eachPresence(data []Datum, do func([]Datum)) {
	count := 1
	options := func(d *Datum) int {
		if d.Field.Result {
			return 2
		}
		return 3
	}
	for i := range data {
		count *= options(&data[i])
	}
	for k := range count {
		chosen := slices.Clone(data)
		for i := range chosen {
			d := &chosen[i]
			d.Has = Presence(k % options(d))
			k /= options(d)
		}
		do(chosen)
	}
}

// HasOther reports whether some key reads an untracked value from the call. The model assumes that
// the key's net admits such a call.
func (s *Class) HasOther() bool {
	return slices.ContainsFunc(s.Data, func(d Datum) bool { return d.Has == Other })
}

// Counterpart returns the class of the calls of class s after the tracked value and the other value
// are exchanged. It returns s if s.Data is empty, and nil if no such class is known.
func (s *Class) Counterpart() *Class {
	if len(s.Data) == 0 {
		return s
	}
	return s.exchanged
}

// exchange sets the counterparts of the given classes, which must differ only in their Data. It
// also stores the list of classes in each class. A class with both the tracked value and another
// value has no counterpart. In a counterpart, the fields of the call's result are considered
// absent. See [Class.Counterpart].
func exchange(all []*Class) {
	for _, s := range all {
		s.alike = all
		var data []Datum
		same := false
		for _, d := range s.Data {
			switch {
			case d.Field.Result:
				d.Has = Lacks
			case d.Has == Same:
				d.Has, same = Other, true
			case d.Has == Other:
				d.Has = Same
			}
			data = append(data, d)
		}
		if same && s.HasOther() { // some fields have the tracked value and others have another value
			continue
		}
		s.exchanged = withData(all, data)
	}
}

// withData returns the class with the given Data, or nil if it does not exist.
func withData(all []*Class, data []Datum) *Class {
	if i := slices.IndexFunc(all, func(t *Class) bool { return slices.Equal(t.Data, data) }); i >= 0 {
		return all[i]
	}
	return nil
}

// TracksAll reports whether every argument field in s.Data has the tracked value.
func (s *Class) TracksAll() bool {
	return !slices.ContainsFunc(s.Data, func(d Datum) bool { return d.Has != Same && !d.Field.Result })
}

// ReturnsOther reports whether a key reads the result of the call and the result does not have the
// tracked value.
func (s *Class) ReturnsOther() bool {
	return slices.ContainsFunc(s.Data, func(d Datum) bool { return d.Field.Result && d.Has != Same })
}

// PresenceOf determines whether field f has the tracked value, has another value, or cannot be
// read. It returns [Lacks] for a field that is not in s.Data.
func (s *Class) PresenceOf(f gate.Field) Presence {
	f = normalize(f)
	for _, d := range s.Data {
		if d.Field == f {
			return d.Has
		}
	}
	return Lacks
}

// project returns the part of m that concerns the tracked value. m is the effect that calls of
// class s have on the net.
func (n *Net) project(m Meaning, s *Class) Meaning {
	var out Meaning
	refused := false
	for _, a := range m {
		var kept []int
		a.Idle = nil
		for _, t := range a.Transitions {
			void, other := n.readPresence(t, s)
			switch {
			case (void || other) && n.awaits(t): // the key depends on the result, so the gate admits the call before it knows the key
				kept, a.Idle = append(kept, t), append(a.Idle, t)
			case void && !n.Info.Transitions[t].Observe:
				refused = true
			case !void && !other:
				kept = append(kept, t)
			}
		}
		spoilers := list.Filter(a.Spoilers, func(t int) bool {
			void, other := n.readPresence(t, s)
			return void || !other
		})
		a.Transitions, a.Spoilers = kept, spoilers
		if a.Free || len(a.Barred)+len(kept)+len(spoilers) > 0 {
			out = append(out, a)
		}
	}
	if refused {
		out = append(out, Ask{Refused: true})
	}
	return out
}

// awaits reports whether transition t reads the results of its calls.
func (n *Net) awaits(t int) bool {
	return slices.ContainsFunc(n.keyFields(t), func(f gate.Field) bool { return f.Result })
}

// readPresence checks the key fields that transition t reads from calls of class s. void is true if
// the calls lack any of these fields. other is true if any of the fields has an untracked value.
func (n *Net) readPresence(t int, s *Class) (void, other bool) {
	for _, f := range n.keyFields(t) {
		switch s.PresenceOf(f) {
		case Lacks:
			void = true
		case Other:
			other = true
		}
	}
	return void, other
}
