package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// AppendEvent appends e as one JSON object on one line, as it goes on record: like
// [json.Marshal], with what would not be seen escaped. Decisions and outcomes, which every
// call has, are put together by hand.
func AppendEvent(dst []byte, e Event) ([]byte, error) {
	b := encoder{dst: dst}
	switch e := e.(type) {
	case *Decision:
		b.decision(e)
	case *Outcome:
		b.outcome(e)
	case Decision:
		b.decision(&e)
	case Outcome:
		b.outcome(&e)
	default:
		b.other = true
	}
	if !b.other {
		return b.dst, nil
	}
	object, err := json.Marshal(e)
	if err != nil {
		return dst, err
	}
	return append(dst, text.EscapeJSON(object)...), nil
}

// An encoder puts a JSON object together.
type encoder struct {
	dst   []byte
	other bool // there is something that is left to package json
}

func (b *encoder) decision(d *Decision) {
	b.raw(`{"time":`)
	b.time(d.Time)
	if !d.Called.IsZero() {
		b.raw(`,"called":`)
		b.time(d.Called)
	}
	b.raw(`,"event":`)
	b.string(d.Event)
	b.raw(`,"session":`)
	b.string(d.Session)
	b.raw(`,"principal":`)
	b.string(d.Principal)
	b.optional(`,"client":`, d.Client)
	b.count(`,"call":`, d.Call)
	b.optional(`,"id":`, d.ID)
	b.optional(`,"upstream":`, d.Upstream)
	b.raw(`,"tool":`)
	b.string(d.Tool)
	b.strings(`,"names":`, d.Names)
	b.number(`,"own":`, d.Own)
	b.strings(`,"uncertain":`, d.Uncertain)
	b.strings(`,"weak":`, d.Weak)
	b.number(`,"omittedNames":`, d.Omitted)
	b.optional(`,"arguments":`, d.Arguments)
	b.value(`,"args":`, d.Args)
	b.values(d.Values)
	b.optional(`,"row":`, d.Row)
	b.strings(`,"reads":`, d.Reads)
	b.raw(`,"decision":`)
	b.string(d.Decision)
	b.optional(`,"kind":`, d.Kind)
	b.nets(d.Nets)
	b.optional(`,"approval":`, d.Approval)
	b.optional(`,"channel":`, d.Channel)
	b.optional(`,"actor":`, d.Actor)
	b.optional(`,"reason":`, d.Reason)
	b.mark(d.Shadow)
	if d.Would != nil {
		b.would(d.Would)
	}
	b.raw(`,"policy":`)
	b.string(d.Policy)
	b.raw(`}`)
}

func (b *encoder) would(w *Would) {
	b.raw(`,"would":{"decision":`)
	b.string(w.Decision)
	b.raw(`,"kind":`)
	b.string(w.Kind)
	b.nets(w.Nets)
	b.raw(`,"reason":`)
	b.string(w.Reason)
	b.raw(`}`)
}

func (b *encoder) nets(list []NetSays) {
	for i := range list {
		n := &list[i]
		if i == 0 {
			b.raw(`,"nets":[{"net":`)
		} else {
			b.raw(`,{"net":`)
		}
		b.string(n.Net)
		b.raw(`,"verdict":`)
		b.string(n.Verdict)
		b.optional(`,"transition":`, n.Transition)
		b.optional(`,"rule":`, n.Rule)
		b.mark(n.Shadow)
		b.raw(`}`)
	}
	if len(list) > 0 {
		b.raw(`]`)
	}
}

func (b *encoder) outcome(o *Outcome) {
	b.raw(`{"time":`)
	b.time(o.Time)
	b.raw(`,"event":`)
	b.string(o.Event)
	b.raw(`,"session":`)
	b.string(o.Session)
	b.raw(`,"call":`)
	b.dst = strconv.AppendUint(b.dst, o.Call, 10)
	b.raw(`,"tool":`)
	b.string(o.Tool)
	b.raw(`,"outcome":`)
	b.string(o.Outcome)
	b.values(o.Values)
	b.raw(`,"ms":`)
	b.float(o.Millis)
	b.optional(`,"by":`, o.By)
	b.raw(`}`)
}

func (b *encoder) raw(s string) { b.dst = append(b.dst, s...) }

// mark is the member shadow.
func (b *encoder) mark(shadow bool) {
	if shadow {
		b.raw(`,"shadow":true`)
	}
}

func (b *encoder) optional(member, s string) {
	if s != "" {
		b.raw(member)
		b.string(s)
	}
}

// count is a member, unless it is 0.
func (b *encoder) count(member string, n uint64) {
	if n != 0 {
		b.raw(member)
		b.dst = strconv.AppendUint(b.dst, n, 10)
	}
}

func (b *encoder) number(member string, n int) {
	if n != 0 {
		b.raw(member)
		b.dst = strconv.AppendInt(b.dst, int64(n), 10)
	}
}

// strings is a member, unless the list is empty.
func (b *encoder) strings(member string, list []string) {
	if len(list) == 0 {
		return
	}
	b.raw(member)
	for i, s := range list {
		b.dst = append(b.dst, "[,"[min(i, 1)])
		b.string(s)
	}
	b.raw(`]`)
}

func (b *encoder) values(list []Value) {
	for i := range list {
		v := &list[i]
		if i == 0 {
			b.raw(`,"values":[{"field":`)
		} else {
			b.raw(`,{"field":`)
		}
		b.string(v.Field)
		b.strings(`,"sha256":`, v.Hashes)
		for k, value := range v.Values {
			b.value([...]string{`,"values":[`, `,`}[min(k, 1)], value)
			b.other = b.other || len(value) == 0
		}
		if len(v.Values) > 0 {
			b.raw(`]`)
		}
		b.value(`,"amount":`, []byte(v.Amount))
		b.other = b.other || v.Amount != "" && rawjson.Kind([]byte(v.Amount)) != '0'
		b.optional(`,"lacks":`, v.Lacks)
		b.raw(`}`)
	}
	if len(list) > 0 {
		b.raw(`]`)
	}
}

// value is a JSON value after what stands before it, unless it is empty: without the spaces
// between its tokens, and escaped as package json does. What is no value is left to that.
func (b *encoder) value(before string, value []byte) {
	if len(value) == 0 {
		return
	}
	if b.other = b.other || rawjson.Check(value, rawjson.MaxDepth) != nil; b.other {
		return
	}
	b.raw(before)
	start, from := len(b.dst), 0
	inside, ascii := false, true // inside a string
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\':
			i++
		case c > '~':
			ascii = false
		case c > '>':
		case c == '"':
			inside = !inside
		case c <= ' ' && !inside:
			b.dst, from = append(b.dst, value[from:i]...), i+1
		case c == '<' || c == '>' || c == '&':
			b.dst, from = fmt.Appendf(append(b.dst, value[from:i]...), `\u%04x`, c), i+1
		}
	}
	b.dst = append(b.dst, value[from:]...)
	if !ascii {
		b.dst = append(b.dst[:start], text.EscapeJSON(b.dst[start:])...)
	}
}

func (b *encoder) string(s string) {
	if !plain(s) {
		quoted, err := json.Marshal(s)
		b.other = b.other || err != nil
		b.dst = append(b.dst, text.EscapeJSON(quoted)...)
		return
	}
	b.dst = append(b.dst, '"')
	b.dst = append(b.dst, s...)
	b.dst = append(b.dst, '"')
}

// plain reports whether a text stands in JSON as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

func (b *encoder) time(t time.Time) {
	_, offset := t.Zone()
	if year := t.Year(); year < 0 || year > 9999 || offset%60 != 0 || offset <= -24*3600 || offset >= 24*3600 {
		b.other = true
		return
	}
	b.dst = append(b.dst, '"')
	b.dst = t.AppendFormat(b.dst, time.RFC3339Nano)
	b.dst = append(b.dst, '"')
}

func (b *encoder) float(f float64) {
	if size := math.Abs(f); f != 0 && (size < 1e-6 || size >= 1e21) || f != f {
		b.other = true
		return
	}
	b.dst = strconv.AppendFloat(b.dst, f, 'f', -1, 64)
}
