package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// FuzzAppendEvent checks that the tables encode events in the same way as package json.
func FuzzAppendEvent(f *testing.F) {
	f.Add("s", "<&>\u2028\x00\xff\"\\", "\u200b", uint64(3), 1.5, int64(1767323045), 0, true, uint8(2))
	f.Add("", "", "", uint64(0), 0.0, int64(-62135596800), 3600, false, uint8(0))
	f.Add("", "x", "y", uint64(math.MaxUint64), 1e21, int64(253402300800), -30, true, uint8(7))
	f.Add("", "é", "\U000e0001", uint64(1), 1e-7, int64(0), 86400, false, uint8(1))
	f.Add("", "\x7f", "", uint64(1), math.NaN(), int64(0), 0, false, uint8(1))
	f.Fuzz(func(t *testing.T, a, b, c string, n uint64, ms float64, unix int64, zone int, yes bool, few uint8) {
		when := time.Unix(unix, int64(n%1e9)).In(time.FixedZone("", zone))
		var names []string
		var nets []NetVerdict
		for i := range few % 4 {
			names = append(names, []string{a, b, c}[i%3])
			nets = append(nets, NetVerdict{Net: b, Verdict: c, Transition: a, Rule: []string{a, "", b}[i%3], Shadow: yes != (i == 1)})
		}
		d := Decision{
			Time: when, Event: a, Session: b, Principal: c, Client: a, Call: n, ID: b, Upstream: c, Tool: a, Names: names, Arguments: b,
			Decision: c, Kind: a, Nets: nets, Approval: b, Channel: c, Actor: a, Reason: b, Shadow: yes, Policy: c,
			Own: int(few), Uncertain: names, Weak: names[len(names)/2:], Omitted: zone, Row: b, Reads: names,
		}
		if yes {
			d.Called, d.Values = when, []Value{{Field: a, Hashes: names}, {Field: b, Lacks: c}}
		}
		o := Outcome{Time: when, Event: a, Session: b, Call: n, Tool: c, Outcome: a, Millis: ms, By: b, Values: d.Values}
		would, args, amount := d, d, o
		would.Would = &Would{Decision: a, Kind: b, Nets: nets, Reason: c}
		args.Args = document(t, map[string]any{a: []any{b, ms > 1, nil}, c: map[string]any{}})
		amount.Values = []Value{{Field: a, Values: []json.RawMessage{args.Args, args.Args}, Amount: "12"}, {Values: []json.RawMessage{json.RawMessage(b)}, Amount: json.Number(c)}}
		for _, e := range []Event{d, would, args, o, amount, Outcome{Values: amount.Values[:1]}, Decision{Args: json.RawMessage(a)}, Task{Time: when, Event: a}} {
			want, wrong := json.Marshal(e)
			got, err := AppendEvent([]byte("x"), e)
			if (err == nil) != (wrong == nil) || err == nil && string(got) != "x"+string(text.EscapeJSON(want)) {
				t.Fatalf("%s, %v\nwant %s, %v", got, err, text.EscapeJSON(want), wrong)
			}
		}
	})
}

// document is JSON as another program would write it, with spaces.
func document(t *testing.T, value any) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("\r\t", " ")
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEveryField checks that each field of a record is written and read back.
func TestEveryField(t *testing.T) {
	var d Decision
	var o Outcome
	fill(reflect.ValueOf(&d).Elem())
	fill(reflect.ValueOf(&o).Elem())
	for _, e := range []Event{d, o, Decision{}, Outcome{}} {
		got, err := AppendEvent(nil, e)
		want, wrong := json.Marshal(e)
		if err != nil || wrong != nil || string(got) != string(want) {
			t.Errorf("%s, %v\nwant %s, %v", got, err, want, wrong)
		}
		var back Entry
		read, err := ReadEntry(got)
		if wrong := json.Unmarshal(got, &back); err != nil || wrong != nil || !reflect.DeepEqual(read, back) {
			t.Errorf("%+v, %v\nwant %+v, %v", read, err, back, wrong)
		}
	}
	var e Entry
	fill(reflect.ValueOf(&e).Elem())
	all, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadEntry(all); err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("%+v, %v\nwant %+v", got, err, e)
	}
}

// TestUnknownType checks that a field of a type without an encoding is not left out silently.
// TestEveryField then fails for the record.
func TestUnknownType(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a member of an unknown type was left out")
		}
	}()
	new(encoder).member(nil, &member{name: "small"}, new(int8))
}

// fill gives each field of v a distinct, non-empty value.
func fill(v reflect.Value) {
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = moment()
		return
	case *json.RawMessage:
		*at = []byte(`{"a":1}`)
		return
	case *json.Number:
		*at = "1.50"
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString(fmt.Sprint(v.UnsafeAddr()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Int:
		v.SetInt(int64(v.UnsafeAddr()))
	case reflect.Uint64:
		v.SetUint(uint64(v.UnsafeAddr()))
	default:
		panic(v.Kind())
	}
}

func BenchmarkAppendEvent(b *testing.B) {
	full := sample()
	full.Args = []byte(`{"path":"/home/ann/notes.txt","content":"` + strings.Repeat(`A line of a text.\n`, 50) + `","mode": 420}`)
	for name, e := range map[string]Decision{"hash": sample(), "full": full} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = AppendEvent(buf[:0], &e)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

// sample returns a typical decision.
func sample() Decision {
	return Decision{
		Time: moment(), Event: "decision", Session: "s-7a6f", Principal: "local", Client: "agent", Call: 12, ID: "12", Upstream: "files", Tool: "read",
		Names: []string{"files.read"}, Arguments: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", Decision: "allow", Policy: "44136fa355b3678a",
		Nets: []NetVerdict{{"limit-read-1", "free", "read", "rules:1:1", false}, {"limit-read-2", "free", "read", "rules:2:1", false}},
	}
}
