package statecode

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxSpent is the maximum number of used grants that are stored. The newest grants suffice: an
// older grant cannot be used again, because its approval is used up.
const maxSpent = 256

// AppendSession appends a session's part of the state: the session's own nets, its open calls, and
// the processes that admitted these calls. Calls that wait for approval are left out. AppendSession
// fails only if metadata cannot be encoded.
func (c *Codec) AppendSession(dst []byte, s *gate.State, i Info, p Processes) ([]byte, error) {
	e := encoder{Codec: c, dst: dst}
	e.text(`{"v":` + formVersion(s, i.Writer, p) + `,"policy":"` + c.fingerprint + `"`)
	e.string(`,"principal":`, i.Principal)
	e.time(`,"since":`, i.Since)
	e.number(`,"owner":`, i.Owner)
	e.string(`,"writer":`, i.Writer)
	e.flag(`,"ended":true`, i.Ended)
	e.string(`,"about":`, i.About)
	e.number(`,"last":`, s.Last)
	e.spent(s.Spent[max(0, len(s.Spent)-maxSpent):])
	if s.Would != (gate.WouldCount{}) {
		e.would(s.Would)
	}
	e.nets(s, gate.ScopeSession)
	e.calls(s, i.Writer, p)
	return append(e.dst, '}'), e.err
}

// AppendShared appends the part of the state that sessions share in the given scope.
func (c *Codec) AppendShared(dst []byte, s *gate.State, scope gate.Scope) ([]byte, error) {
	e := encoder{Codec: c, dst: dst}
	e.text(`{"v":1,"policy":"` + c.fingerprint + `"`)
	e.nets(s, scope)
	return append(e.dst, '}'), e.err
}

// AppendValue appends the row for one value of a net's key.
func (c *Codec) AppendValue(dst []byte, net int, d *gate.NetData) ([]byte, error) {
	e := encoder{Codec: c, dst: append(dst, '{')}
	e.state(&c.nets[net], d)
	return append(e.dst, '}'), e.err
}

// encoder appends JSON to dst, and records an error if metadata cannot be encoded.
type encoder struct {
	*Codec
	dst []byte
	err error
}

func (e *encoder) text(s string) { e.dst = append(e.dst, s...) }

// comma appends a comma unless an object or a list has just begun.
func (e *encoder) comma() {
	if c := e.dst[len(e.dst)-1]; c != '{' && c != '[' {
		e.dst = append(e.dst, ',')
	}
}

func (e *encoder) member(key string) {
	e.comma()
	e.text(key)
}

func (e *encoder) string(key, s string) {
	if s != "" {
		e.text(key)
		e.dst = rawjson.AppendString(e.dst, s)
	}
}

func (e *encoder) number(key string, n uint64) {
	if n != 0 {
		e.text(key)
		e.dst = strconv.AppendUint(e.dst, n, 10)
	}
}

func (e *encoder) flag(member string, on bool) {
	if on {
		e.text(member)
	}
}

func (e *encoder) time(key string, t time.Time) {
	if !t.IsZero() {
		e.text(key)
		e.dst = appendTime(e.dst, t)
	}
}

func (e *encoder) spent(numbers []uint64) {
	for k, n := range numbers {
		if k == 0 {
			e.text(`,"spent":[`)
		}
		e.comma()
		e.dst = strconv.AppendUint(e.dst, n, 10)
	}
	e.flag("]", len(numbers) > 0)
}

func (e *encoder) would(n gate.WouldCount) {
	e.text(`,"would":[`)
	e.dst = append(strconv.AppendInt(e.dst, int64(n.Refused), 10), ',')
	e.dst = append(strconv.AppendInt(e.dst, int64(n.Asked), 10), ']')
}

// nets appends those nets of the scope that are not in their initial state.
func (e *encoder) nets(s *gate.State, scope gate.Scope) {
	any := false
	for i := range e.Codec.nets {
		n, d := &e.Codec.nets[i], s.Nets[i]
		if n.scope != scope || n.atStart(d) {
			continue
		}
		if !any {
			e.text(`,"nets":{`)
		}
		any = true
		e.comma()
		e.net(n, d)
	}
	e.flag("}", any)
}

// net appends a net that is not in its initial state.
func (e *encoder) net(n *net, d *gate.NetData) {
	e.dst = append(e.dst, n.head...)
	e.flag(`,"off":true`, !d.Active)
	e.number(`,"values":`, uint64(d.Values.Len()))
	e.state(n, d)
	e.text("}")
}

// state appends the members of a net's state. [Codec.AppendValue] encodes the net's states for
// individual values of its key.
func (e *encoder) state(n *net, d *gate.NetData) {
	if d.Stuck {
		e.member(`"stuck":true`)
	}
	if !slices.Equal(d.Marking, n.start.Marking) {
		e.marking(n, d.Marking)
	}
	e.flights(`"flights":[`, n, d.Flights)
	e.flights(`"watches":[`, n, d.Watches)
	if x := d.Extras; x != nil {
		e.flights(`"spoilers":[`, n, x.Spoilers)
		e.flights(`"lapsed":[`, n, x.Lapsed)
		if x.Row != "" {
			e.member(`"row":"`)
			e.dst = append(hex.AppendEncode(e.dst, []byte(x.Row)), '"')
		}
	}
	e.clock(d.Clock)
	if d.Spent != nil {
		e.member(`"spent":["`)
		e.text(d.Spent.Amount.RatString())
		e.text(`",`)
		e.dst = append(appendTime(e.dst, d.Spent.Time), ']')
	}
	if x := d.Extras; x != nil && x.Debt != nil {
		e.member(`"debt":["`)
		e.text(x.Debt.Amount.RatString())
		e.text(`",`)
		e.dst = append(appendTime(e.dst, x.Debt.Until), ']')
	}
	if len(d.Meta) > 0 {
		e.member(`"meta":`)
		var err error
		if e.dst, err = appendObject(e.dst, d.Meta); err != nil {
			e.err = fmt.Errorf("cannot store the metadata of net '%s': %w", n.name, err)
		}
	}
	if d.Shadow != nil {
		e.member(`"shadow":{`)
		e.state(n, d.Shadow.Enforced)
		e.count(`"refused":`, d.Shadow.Refused)
		e.count(`"asked":`, d.Shadow.Asked)
		e.text("}")
	}
}

func (e *encoder) count(member string, n int) {
	if n > 0 {
		e.member(member)
		e.dst = strconv.AppendInt(e.dst, int64(n), 10)
	}
}

func (e *encoder) marking(n *net, m []int) {
	e.member(`"marking":{`)
	for place, tokens := range m {
		if tokens != 0 {
			e.comma()
			e.dst = append(e.dst, n.places[place]...)
			e.dst = strconv.AppendInt(e.dst, int64(tokens), 10)
		}
	}
	e.text("}")
}

func (e *encoder) flights(member string, n *net, flights []gate.Flight) {
	if len(flights) == 0 {
		return
	}
	e.member(member)
	for i := range flights {
		f := &flights[i]
		e.comma()
		e.dst = append(append(e.dst, '['), n.transitions[f.Transition]...)
		e.dst = append(strconv.AppendUint(append(e.dst, ','), f.Call, 10), ',')
		e.dst = append(rawjson.AppendString(e.dst, f.Name), ',')
		e.dst = append(appendTime(e.dst, f.Since), ',')
		e.dst = append(strconv.AppendUint(e.dst, f.Owner, 10), ']')
	}
	e.text("]")
}

func (e *encoder) clock(c *gate.Clock) {
	if c == nil {
		return
	}
	e.member(`"clock":[`)
	e.dst = appendTime(e.dst, c.Time)
	for _, t := range c.Since {
		e.dst = appendTime(append(e.dst, ','), t)
	}
	e.text("]")
}

// calls appends the open calls, oldest first.
func (e *encoder) calls(s *gate.State, writer string, p Processes) {
	if len(s.Calls) == 0 {
		return
	}
	var room [16]uint64
	numbers := slices.AppendSeq(room[:0], maps.Keys(s.Calls))
	slices.Sort(numbers)
	e.text(`,"calls":[`)
	for _, n := range numbers {
		e.comma()
		e.call(s.Calls[n], p.processFor(n, writer))
	}
	e.text("]")
}

// call appends an open call. If process is not empty, it names the process that admitted the call.
func (e *encoder) call(o *gate.OpenCall, process string) {
	c := &o.Call
	e.text(`{"number":`)
	e.dst = strconv.AppendUint(e.dst, o.Number, 10)
	e.string(`,"id":`, c.ID)
	e.string(`,"tool":`, c.Tool)
	e.flag(`,"foreign":true`, c.Foreign)
	for k, n := range c.Also {
		if k == 0 {
			e.text(`,"also":[`)
		}
		e.comma()
		e.dst = append(rawjson.AppendString(append(e.dst, '['), n.Text), ',')
		e.dst = append(strconv.AppendBool(e.dst, n.Certain), ',')
		e.dst = append(strconv.AppendBool(e.dst, n.Weak), ']')
	}
	e.flag("]", len(c.Also) > 0)
	e.string(`,"args":`, string(c.Args))
	e.time(`,"time":`, c.Time)
	e.string(`,"upstream":`, c.Upstream)
	e.string(`,"annotations":`, string(c.Annotations))
	for k, i := range o.Nets {
		if k == 0 {
			e.text(`,"nets":[`)
		}
		e.comma()
		if o.Keys == nil {
			e.dst = rawjson.AppendString(e.dst, e.Codec.nets[i].name)
			continue
		}
		key := ""
		if k < len(o.Keys) {
			key = o.Keys[k]
		}
		e.dst = append(rawjson.AppendString(append(e.dst, '['), e.Codec.nets[i].name), ',')
		e.dst = append(rawjson.AppendString(e.dst, key), ']')
	}
	e.flag("]", len(o.Nets) > 0)
	e.flag(`,"unknown":true`, o.Unknown)
	if o.More > 0 {
		e.text(`,"more":`)
		e.dst = strconv.AppendUint(e.dst, o.More, 10)
	}
	e.string(`,"process":`, process)
	e.text("}")
}

// appendTime appends the seconds since 1970. It adds nine decimal places unless all of them are
// zero. It appends null for the zero time.
func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	dst = strconv.AppendInt(dst, t.Unix(), 10)
	if nanos := t.Nanosecond(); nanos > 0 {
		dst = strconv.AppendInt(append(dst, '.'), int64(nanos)+1e9, 10)
		return slices.Delete(dst, len(dst)-10, len(dst)-9) // remove the 1 that was added to preserve leading zeros
	}
	return dst
}
