package statecode

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Change lists the changes to a state since the state was last written.
type Change struct {
	Nets  []int    // indexes of the nets in the policy
	Calls []uint64 // numbers of the calls
	Spent bool     // whether a grant was used
}

// AppendSessionChange appends a JSON object with the changes to a session's part of the state since
// the last write. [Merge] applies these changes to the part. The object contains the changed nets
// keyed by name, the changed calls keyed by number, and the other members that can change. A null
// value means that a net is back in its initial state or that a call has ended. The object contains
// neither the policy nor the session's writer, so they must not have changed since the last write.
func (c *Codec) AppendSessionChange(dst []byte, s *gate.State, i Info, p Processes, change *Change) ([]byte, error) {
	e := encoder{Codec: c, dst: dst}
	e.text(`{"v":` + formVersion(s, i.Writer, p))
	e.text(`,"ended":`)
	e.dst = strconv.AppendBool(e.dst, i.Ended)
	e.text(`,"last":`)
	e.dst = strconv.AppendUint(e.dst, s.Last, 10)
	if change.Spent {
		e.spent(s.Spent[max(0, len(s.Spent)-maxSpent):])
	}
	e.would(s.Would)
	e.changedNets(s, change)
	for k, n := range change.Calls {
		if k == 0 {
			e.text(`,"calls":{`)
		}
		e.comma()
		e.dst = append(strconv.AppendUint(append(e.dst, '"'), n, 10), '"', ':')
		if o := s.Calls[n]; o != nil {
			e.call(o, p.processFor(n, i.Writer))
		} else {
			e.text("null")
		}
	}
	e.flag("}", len(change.Calls) > 0)
	return append(e.dst, '}'), e.err
}

// AppendSharedChange is like [Codec.AppendSessionChange], but for a part of the state that sessions
// share.
func (c *Codec) AppendSharedChange(dst []byte, s *gate.State, change *Change) ([]byte, error) {
	e := encoder{Codec: c, dst: dst}
	e.text(`{"v":1`)
	e.changedNets(s, change)
	return append(e.dst, '}'), e.err
}

func (e *encoder) changedNets(s *gate.State, change *Change) {
	for k, i := range change.Nets {
		if k == 0 {
			e.text(`,"nets":{`)
		}
		e.comma()
		n := &e.Codec.nets[i]
		if n.atStart(s.Nets[i]) {
			e.dst = append(rawjson.AppendString(e.dst, n.name), ":null"...)
			continue
		}
		e.net(n, s.Nets[i])
	}
	e.flag("}", len(change.Nets) > 0)
}

// order lists the known members of a part of a state in encoding order. Unknown members come next,
// followed by the nets and the calls.
var order = []string{"v", "policy", "principal", "since", "owner", "writer", "ended", "about", "last", "spent", "would"}

// defaults contains the default values of members. A member with its default value is not written.
var defaults = map[string]string{"ended": "false", "last": "0", "would": "[0,0]"}

var errMerge = errors.New("a state change is damaged")

// Merge applies changes to a part of a state. The changes must have been written by
// [Codec.AppendSessionChange] or [Codec.AppendSharedChange].
func Merge(part []byte, changes [][]byte) ([]byte, error) {
	m := mergedPart{top: map[string][]byte{}, nets: map[string][]byte{}, calls: map[uint64][]byte{}}
	if !m.part(part) {
		return nil, errMerge
	}
	for _, c := range changes {
		if !m.change(c) {
			return nil, errMerge
		}
	}
	return m.append(make([]byte, 0, len(part)+len(part)/4+256)), nil
}

// mergedPart is a decoded part of a state. Changes are merged into it.
type mergedPart struct {
	top   map[string][]byte
	keys  []string // names of the members in top that this version of petrigate does not know
	nets  map[string][]byte
	names []string // names of the nets, in order of first appearance
	calls map[uint64][]byte
}

// read decodes a part of a state, or changes to such a part, and stores the members in m. The value
// of the member "calls" is passed to the callback instead. read returns false if the data is
// damaged.
func (m *mergedPart) read(data []byte, calls func(value []byte) bool) bool {
	ok := true
	whole := rawjson.Members(data, func(key, value []byte, _ int) bool {
		switch string(key) {
		case "nets":
			ok = m.net(value)
		case "calls":
			ok = calls(value)
		default:
			m.set(string(key), value)
		}
		return ok
	})
	return whole && ok
}

func (m *mergedPart) part(data []byte) bool {
	return m.read(data, func(calls []byte) bool {
		return rawjson.Elements(calls, func(call []byte, _ int) bool {
			number, _ := rawjson.Member(call, "number")
			n, err := strconv.ParseUint(string(number), 10, 64)
			m.calls[n] = call
			return err == nil
		})
	})
}

func (m *mergedPart) set(key string, value []byte) {
	if _, known := m.top[key]; !known && !slices.Contains(order, key) {
		m.keys = append(m.keys, key)
	}
	m.top[key] = value
}

func (m *mergedPart) net(nets []byte) bool {
	return rawjson.Members(nets, func(key, value []byte, _ int) bool {
		name := string(key)
		if _, known := m.nets[name]; !known {
			m.names = append(m.names, name)
		}
		m.nets[name] = value
		return true
	})
}

func (m *mergedPart) change(data []byte) bool {
	return m.read(data, func(calls []byte) bool {
		return rawjson.Members(calls, func(number, call []byte, _ int) bool {
			n, err := strconv.ParseUint(string(number), 10, 64)
			if string(call) == "null" {
				delete(m.calls, n)
			} else {
				m.calls[n] = call
			}
			return err == nil
		})
	})
}

func (m *mergedPart) append(dst []byte) []byte {
	dst = append(dst, '{')
	add := func(key string) {
		value, ok := m.top[key]
		if !ok || string(value) == defaults[key] {
			return
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(rawjson.AppendString(dst, key), ':'), value...)
	}
	for _, key := range slices.Concat(order, m.keys) {
		add(key)
	}
	n := 0
	for _, name := range m.names {
		value := m.nets[name]
		if string(value) == "null" {
			continue
		}
		dst = append(dst, [2]string{`,"nets":{`, `,`}[min(n, 1)]...)
		dst = append(append(rawjson.AppendString(dst, name), ':'), value...)
		n++
	}
	if n > 0 {
		dst = append(dst, '}')
	}
	for k, number := range slices.Sorted(maps.Keys(m.calls)) {
		dst = append(dst, [2]string{`,"calls":[`, `,`}[min(k, 1)]...)
		dst = append(dst, m.calls[number]...)
	}
	if len(m.calls) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
