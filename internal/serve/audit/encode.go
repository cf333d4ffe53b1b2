package audit

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// AppendEvent appends e as one JSON object on one line, as it goes on record: like
// [json.Marshal], with what would not be seen escaped. Decisions and outcomes, which every
// call has, are put together by hand.
func AppendEvent(dst []byte, e Event) ([]byte, error) {
	b := encoder{dst: dst}
	switch e := e.(type) {
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
	if d.Remedy != nil {
		b.other = true
		return
	}
	b.raw(`{"time":`)
	b.time(d.Time)
	b.raw(`,"event":`)
	b.string(d.Event)
	b.raw(`,"session":`)
	b.string(d.Session)
	b.raw(`,"principal":`)
	b.string(d.Principal)
	b.optional(`,"client":`, d.Client)
	if d.Call != 0 {
		b.raw(`,"call":`)
		b.dst = strconv.AppendUint(b.dst, d.Call, 10)
	}
	b.optional(`,"id":`, d.ID)
	b.optional(`,"upstream":`, d.Upstream)
	b.raw(`,"tool":`)
	b.string(d.Tool)
	if len(d.Names) > 0 {
		b.raw(`,"names":`)
		b.strings(d.Names)
	}
	b.optional(`,"arguments":`, d.Arguments)
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
	b.raw(`,"ms":`)
	b.number(o.Millis)
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

func (b *encoder) strings(list []string) {
	for i, s := range list {
		b.dst = append(b.dst, "[,"[min(i, 1)])
		b.string(s)
	}
	b.raw(`]`)
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

func (b *encoder) number(f float64) {
	if size := math.Abs(f); f != 0 && (size < 1e-6 || size >= 1e21) || f != f {
		b.other = true
		return
	}
	b.dst = strconv.AppendFloat(b.dst, f, 'f', -1, 64)
}
