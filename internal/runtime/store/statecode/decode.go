package statecode

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// part decodes one part of a state, which consists of data and the rows in values. Each row stores
// a net's state for one value of its key; see [Codec.RowName]. The argument session reports whether
// the part belongs to a session.
func (d *decoder) part(data []byte, values map[string][]byte, session bool) {
	if err := rawjson.Check(data, maxDepth); err != nil {
		d.err = fmt.Errorf("%s: invalid JSON: %w", d.subject, err)
		return
	}
	var nets []byte
	d.object("the part", data, func(key string, value []byte) bool {
		switch key {
		case "v", "policy": // already checked by [Codec.read]
		case "nets":
			nets = value
		default:
			return session && d.member(key, value)
		}
		return true
	})
	if d.err == nil && nets != nil {
		d.nets(nets, values)
	}
	if d.err == nil && len(values) > 0 {
		d.checkRows(nets, values)
	}
	if session && d.err == nil {
		d.checkSession()
	}
}

// checkRows records an error if there is a value row (see [Codec.RowName]) for a net that the part
// of the state lacks.
func (d *decoder) checkRows(nets []byte, values map[string][]byte) {
	for row := range values {
		name, _, ok := cutRow(row)
		if _, known := rawjson.Member(nets, name); !ok || !known {
			d.fail("the part", "it has a row for a value of net '%s', but lacks the net", name)
			return
		}
	}
}

// cutRow splits the name of a value row (see [Codec.RowName]) into the net's name and the value of
// its key.
func cutRow(row string) (net, key string, ok bool) {
	end := rawjson.Skip([]byte(row), 0)
	if end < 0 {
		return row, "", false
	}
	net, ok = rawjson.String([]byte(row[:end]))
	return net, row[end:], ok
}

// member decodes a member that occurs only in a session's part of a state. It returns false if the
// key is unknown.
func (d *decoder) member(key string, value []byte) bool {
	switch key {
	case "principal":
		d.info.Principal = d.text(key, value)
	case "since":
		d.info.Since = d.time(key, value)
	case "owner":
		d.info.Owner = d.number(key, value)
	case "writer":
		d.info.Writer = d.text(key, value)
	case "ended":
		d.info.Ended = d.flag(key, value)
	case "about":
		d.info.About = d.text(key, value)
	case "last":
		d.state.Last = d.number(key, value)
	case "spent":
		d.list(key, value, func(value []byte) { d.state.Spent = append(d.state.Spent, d.number(key, value)) })
	case "would":
		var counts [2][]byte
		if d.tuple(key, value, counts[:]) {
			d.state.Would = gate.WouldCount{Refused: d.count(key, counts[0]), Asked: d.count(key, counts[1])}
		}
	case "calls":
		d.list("the open calls", value, d.call)
	default:
		return false
	}
	return true
}

// checkSession records an error if the members of a session are inconsistent, and derives some of
// the session's data from them.
func (d *decoder) checkSession() {
	for number := range d.state.Calls {
		if number > d.state.Last {
			d.fail("the open calls", "call #%d comes after the last call, #%d", number, d.state.Last)
		}
		d.processes[number] = cmp.Or(d.processes[number], d.info.Writer)
	}
	d.info.Open = len(d.state.Calls)
	d.state.Owners[gate.ScopePrincipal], d.state.Owners[gate.ScopeGlobal] = d.info.Owner, d.info.Owner
}

func (d *decoder) call(value []byte) {
	o := &gate.OpenCall{}
	c, last := &o.Call, d.state.Last
	where, process := "the open calls", ""
	d.object(where, value, func(key string, value []byte) bool {
		switch key {
		case "id":
			c.ID = d.text(where, value)
		case "foreign":
			c.Foreign = d.flag(where, value)
		case "also":
			d.list(where, value, func(value []byte) { c.Also = append(c.Also, d.name(where, value)) })
		case "args":
			c.Args = []byte(d.text(where, value))
		case "upstream":
			c.Upstream = d.text(where, value)
		case "annotations":
			c.Annotations = []byte(d.text(where, value))
		case "nets":
			d.list(where, value, func(value []byte) { d.waitingNet(where, o, value) })
		default:
			return d.openMember(o, &process, key, value)
		}
		return true
	})
	if d.err != nil {
		return
	}
	if o.Number == 0 || d.state.Calls[o.Number] != nil {
		d.fail(where, "call number %d is invalid or used twice", o.Number)
		return
	}
	if d.processes == nil {
		d.processes = map[uint64]string{}
	}
	d.processes[o.Number] = process
	d.state.Apply(&gate.Delta{Opened: o})
	d.state.Last = last
}

// name decodes a [gate.Name] of a call.
func (d *decoder) name(where string, value []byte) (n gate.Name) {
	var parts [3][]byte
	if d.tuple(where, value, parts[:]) {
		n = gate.Name{Text: d.text(where, parts[0]), Certain: d.bool(where, parts[1]), Weak: d.bool(where, parts[2])}
	}
	return n
}

// waitingNet decodes an element of the list of nets that wait for the call.
func (d *decoder) waitingNet(where string, o *gate.OpenCall, value []byte) {
	keyed := rawjson.Kind(value) == '['
	name, key := value, value
	if keyed {
		var parts [2][]byte
		if !d.tuple(where, value, parts[:]) {
			return
		}
		name, key = parts[0], parts[1]
	}
	i, known := d.byName[d.text(where, name)]
	if !known {
		if !d.otherPolicy && d.err == nil {
			d.fail(where, "a call has the unknown net %s", name)
		}
		return
	}
	if len(o.Nets) > 0 && keyed != (o.Keys != nil) {
		d.fail(where, "only some nets of a call have a value")
	}
	if o.Nets = append(o.Nets, i); keyed {
		o.Keys = append(o.Keys, d.text(where, key))
	}
}

// nets decodes the states of the nets in a part of a state.
func (d *decoder) nets(value []byte, values map[string][]byte) {
	rows := map[int]map[string][]byte{}
	for row, value := range values {
		if name, key, ok := cutRow(row); ok {
			if i, known := d.byName[name]; known {
				if rows[i] == nil {
					rows[i] = map[string][]byte{}
				}
				rows[i][key] = value
			}
		}
	}
	d.object("the nets", value, func(name string, value []byte) bool {
		i, known := d.byName[name]
		if !known || d.Codec.nets[i].scope != d.scope {
			return known && d.otherPolicy // if the net belonged to this part of the state only under the other policy, its state is ignored
		}
		d.net(i, value, rows[i])
		return true
	})
}

func (d *decoder) net(i int, value []byte, rows map[string][]byte) {
	n := &d.Codec.nets[i]
	where := "net '" + n.name + "'"
	data := &gate.NetData{Active: true, Marking: n.start.Marking}
	count := 0
	d.object(where, value, func(key string, value []byte) bool {
		switch key {
		case "print":
			if print := d.text(where, value); d.err == nil && print != n.fingerprint && !d.otherPolicy {
				d.fail(where, "it has the fingerprint %s, not %s", print, n.fingerprint)
			}
		case "hand":
			d.flag(where, value)
		case "limit":
			d.list(where, value, func([]byte) {}) // only check that the value is a list; [Codec.oldLimit] decodes it
		case "off":
			data.Active = !d.flag(where, value)
		case "values":
			count = d.count(where, value)
		default:
			return d.data(where, n, data, key, value)
		}
		return true
	})
	d.complete(where, n, data)
	if d.err == nil && count != len(rows) {
		d.fail(where, "it has %d rows for values of its key, not %d", len(rows), count)
	}
	if d.err == nil && count > 0 {
		data.Values = d.values(where, i, data, rows)
	}
	d.state.Nets[i] = data
}

// values decodes a net's value rows (see [Codec.RowName]). Each row holds the net's state for one
// value of its key; all other values share the net's default state. values applies the rows to an
// empty state, because [gate.State.Apply] would drop a row that equals the default state.
func (d *decoder) values(where string, i int, base *gate.NetData, rows map[string][]byte) *gate.Values {
	n := &d.Codec.nets[i]
	d.state.Nets[i] = &gate.NetData{}
	delta := &gate.Delta{Nets: make([]gate.NetDelta, 0, len(rows))}
	for key, row := range rows {
		one := where + ", value " + key
		if key == "" {
			d.fail(where, "it has a row without a value")
		} else if err := rawjson.Check(row, maxDepth); err != nil {
			d.fail(one, "invalid JSON: %v", err)
		}
		if d.err != nil {
			return nil
		}
		data := &gate.NetData{Active: base.Active, Marking: n.start.Marking}
		d.object(one, row, func(key string, value []byte) bool { return d.data(one, n, data, key, value) })
		d.complete(one, n, data)
		delta.Nets = append(delta.Nets, gate.NetDelta{Net: i, Key: key, Data: data})
	}
	if d.err != nil {
		return nil
	}
	d.state.Apply(delta)
	return d.state.Nets[i].Values
}

// complete records an error if the net's shadow mode was turned on or off after the state was
// written. A net in shadow mode blocks no calls. Its enforced state is the state that it would have
// if it had blocked them. The field Active of the enforced state is not stored, so complete sets
// it.
func (d *decoder) complete(where string, n *net, data *gate.NetData) {
	switch {
	case d.err != nil:
	case n.shadow != (data.Shadow != nil):
		d.fail(where, "its shadow setting has changed; now: %t", n.shadow)
	case n.shadow:
		data.Shadow.Enforced.Active = data.Active
	}
}

// data decodes a member of a net's state. It returns false if the member's name is unknown.
func (d *decoder) data(where string, n *net, data *gate.NetData, key string, value []byte) bool {
	switch key {
	case "stuck":
		data.Stuck = d.flag(where, value)
	case "marking":
		data.Marking = d.marking(where, n, value)
	case "flights":
		data.Flights = d.flights(where, n, value)
	case "watches":
		data.Watches = d.flights(where, n, value)
	case "spoilers":
		d.apart(data).Spoilers = d.flights(where, n, value)
	case "lapsed":
		d.apart(data).Lapsed = d.flights(where, n, value)
	case "row":
		d.apart(data).Row = d.hex(where, value)
	case "clock":
		data.Clock = d.clock(where, n, value)
	case "spent":
		data.Spent = d.spent(where, value)
	case "debt":
		if owed := d.spent(where, value); owed != nil {
			d.apart(data).Debt = &gate.Debt{Amount: owed.Amount, Until: owed.Time}
		}
	case "meta":
		m, ok := readObject(value)
		if data.Meta = m; !ok {
			d.fail(where, "its metadata is damaged")
		}
	case "shadow":
		data.Shadow = d.shadow(where, n, value)
	default:
		return false
	}
	return true
}

func (d *decoder) apart(data *gate.NetData) *gate.Extras {
	if data.Extras == nil {
		data.Extras = &gate.Extras{}
	}
	return data.Extras
}

func (d *decoder) shadow(where string, n *net, value []byte) *gate.ShadowData {
	where += " in shadow"
	s := &gate.ShadowData{Enforced: &gate.NetData{Marking: n.start.Marking}}
	d.object(where, value, func(key string, value []byte) bool {
		switch key {
		case "refused":
			s.Refused = d.count(where, value)
		case "asked":
			s.Asked = d.count(where, value)
		case "shadow":
			return false
		default:
			return d.data(where, n, s.Enforced, key, value)
		}
		return true
	})
	return s
}

func (d *decoder) marking(where string, n *net, value []byte) []int {
	m := make([]int, len(n.start.Marking))
	if n.placeholder {
		m[0] = 1 // the actual marking is unknown; any marking that differs from the initial one will do
		return m
	}
	d.object(where, value, func(key string, value []byte) bool {
		i, known := n.place[key]
		if known {
			m[i] = d.count(where, value)
		}
		return known
	})
	return m
}

func (d *decoder) flights(where string, n *net, value []byte) (flights []gate.Flight) {
	d.list(where, value, func(value []byte) {
		var parts [5][]byte
		if !d.tuple(where, value, parts[:]) {
			return
		}
		f := gate.Flight{Call: d.number(where, parts[1]), Name: d.text(where, parts[2]), Since: d.time(where, parts[3]), Owner: d.number(where, parts[4])}
		name, known := d.text(where, parts[0]), false
		if f.Transition, known = n.transition[name]; !known && !n.placeholder && d.err == nil {
			d.fail(where, "it has no transition %.40q", name)
		}
		flights = append(flights, f)
	})
	if d.err == nil && len(flights) == 0 {
		d.fail(where, "it has an empty list")
	}
	return flights
}

func (d *decoder) clock(where string, n *net, value []byte) *gate.Clock {
	var times []time.Time
	d.list(where, value, func(value []byte) { times = append(times, d.time(where, value)) })
	if n.placeholder || d.err != nil {
		return nil
	}
	if len(times) != n.timed+1 {
		d.fail(where, "it has %d transitions with a clock, not %d", n.timed, len(times)-1)
		return nil
	}
	return &gate.Clock{Time: times[0], Since: times[1:]}
}

func (d *decoder) spent(where string, value []byte) *gate.Spent {
	var parts [2][]byte
	if !d.tuple(where, value, parts[:]) {
		return nil
	}
	amount, ok := new(big.Rat).SetString(d.text(where, parts[0]))
	if !ok || amount.Sign() <= 0 || slices.ContainsFunc(parts[0], func(c byte) bool { return c == 'e' || c == 'E' }) {
		d.fail(where, "%.40s is not an amount", parts[0])
		return nil
	}
	return &gate.Spent{Amount: amount, Time: d.time(where, parts[1])}
}
