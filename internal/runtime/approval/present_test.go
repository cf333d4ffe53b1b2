package approval

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// hidePins is a mask for all members named pin.
func hidePins(value []byte) ([]byte, int) {
	const pin = `"pin":1234`
	n := bytes.Count(value, []byte(pin))
	return bytes.ReplaceAll(value, []byte(pin), []byte(`"pin":"*** (number)"`)), n
}

// asking opens a request for a call of push with arguments.
func asking(t *testing.T, b *Broker, principal, arguments string) *Request {
	t.Helper()
	q, err := b.Open(Key{Session: "s of " + principal, Tool: "git.push", Arguments: arguments}, Call{
		Upstream: "git", Tool: "push", Principal: principal, Arguments: []byte(arguments), Size: len(arguments), SHA256: "sum of " + arguments,
		Meta: []byte(`{"pin":1234}`), Beside: []byte(`{"x":{"pin":1234}}`),
	}, &gate.Ask{Steps: []gate.Step{{Net: "pushes", Transition: "push", Reason: "push requires human approval"}}})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func shown(b *Broker, q *Request) string {
	return b.Look(q).Text(gate.Position.String, b.options.Now())
}

// TestMasked checks that masked values are hidden in every display, even after the end, and that
// forwarded values do not change.
func TestMasked(t *testing.T) {
	b, clock := newTestBroker()
	b.options.Mask = hidePins
	q := asking(t, b, "ann", `{"to":"bob","pin":1234}`)
	text := shown(b, q)
	for _, want := range []string{`"to": "bob"`, `"pin": "*** (number)"`, "(23 bytes, sha256 sum of", "Masked by approval.mask: 3 values."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "1234"); n != 1 { // in the made-up hash
		t.Errorf("%d pins are shown:\n%s", n, text)
	}
	if meta := string(b.Look(q).Call.Meta); meta != `{"pin":1234}` {
		t.Errorf("%s would be forwarded", meta)
	}
	row, err := q.row(q.progress)
	if err != nil || bytes.Count(row.Data, []byte(`"1234`)) != 0 {
		t.Errorf("%s, %v", row.Data, err)
	}
	if err := b.Answer(q.ID, true, CLI, "ann", ""); err != nil || !redeem(b, q) {
		t.Fatal(err)
	}
	clock.at = clock.at.Add(time.Second)
	if ended := b.Look(q).Call; strings.Contains(string(ended.Arguments)+string(ended.Beside)+string(ended.Meta), "1234") || ended.exact != nil {
		t.Errorf("%+v is kept", ended)
	}
}

// TestSince checks that a call is compared with the principal's last approved call of the same
// tool.
func TestSince(t *testing.T) {
	b, clock := newTestBroker()
	b.options.Mask = hidePins
	approve := func(q *Request) {
		t.Helper()
		if err := b.Answer(q.ID, true, CLI, "ann", ""); err != nil || !redeem(b, q) {
			t.Fatal(err)
		}
		clock.at = clock.at.Add(2 * time.Minute)
	}
	first := asking(t, b, "ann", `{"env":"staging","n":1}`)
	if b.Look(first).Since != nil {
		t.Error("nothing was approved before")
	}
	approve(first)
	second := asking(t, b, "ann", `{"env":"prod","force":true}`)
	want := "\npush was last approved 2m ago (" + first.ID + "). Since then:\n" +
		"  $.env: \"staging\" -> \"prod\"\n  $.force: added true\n  $.n: removed 1\nApproval "
	if text := shown(b, second); !strings.Contains(text, want) {
		t.Errorf("%s\nwant %s", text, want)
	}
	if b.Look(asking(t, b, "bob", `{"env":"prod"}`)).Since != nil {
		t.Error("another principal's calls are shown")
	}
	approve(second)
	if text := shown(b, asking(t, b, "ann", `{"env":"prod","force":true}`)); !strings.Contains(text, second.ID+"), with the same arguments.\n") {
		t.Error(text)
	}
	approve(asking(t, b, "ann", `{"pin":1234}`))
	if text := shown(b, asking(t, b, "ann", `{"pin":12345}`)); !strings.Contains(text, `$.pin: "*** (number)" -> `) {
		t.Error(text)
	}
	approve(asking(t, b, "ann", `{"a":"`+strings.Repeat("x", maxCompared)+`"}`))
	if text := shown(b, asking(t, b, "ann", `{}`)); !strings.Contains(text, "Arguments of more than 8192 bytes are not compared.\n") {
		t.Error(text)
	}
	for i := range 2 * maxRemembered {
		b.requests.last.add(&Request{Key: Key{Tool: fmt.Sprint(i)}})
	}
	if n := len(b.requests.last.calls); n != maxRemembered {
		t.Errorf("%d calls are remembered", n)
	}
}

// TestDenied checks that denied and unanswered calls are not used for comparison.
func TestDenied(t *testing.T) {
	b, _ := newTestBroker()
	q := asking(t, b, "ann", `{"n":1}`)
	if err := b.Answer(q.ID, false, CLI, "ann", ""); err != nil {
		t.Fatal(err)
	}
	if b.Look(asking(t, b, "ann", `{"n":2}`)).Since != nil {
		t.Error("a call that was denied is the last that was approved")
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		value string
		want  []string
	}{
		{`{"a":"plain, naïve, 日本 and привет\r\n\tx","url":"https://example.com/?q=é"}`, nil},
		{`{"a":"x` + "\u202e" + `y"}`, []string{"1 character is not visible, or changes where other text is shown, and is written as an escape: U+202E"}},
		{`{"\u200bk":"\u001b[2J\u200b\r"}`, []string{"4 characters are not visible, or change where other text is shown, and are written as an escape: U+200B, U+001B, U+000D"}},
		{`["\u0001\u0002\u0003\u0004\u0005\u0006"]`, []string{"6 characters are not visible, or change where other text is shown, and are written as an escape: U+0001, U+0002, U+0003, U+0004, U+0005 and others"}},
		{`{"a":"ls` + strings.Repeat(" ", 200) + `; rm -rf /"}`, []string{"200 spaces or line breaks in a row: read to the end"}},
		{`{"u":"get https://аррӏе.com:443/x"}`, []string{`the host "аррӏе.com" has non-ASCII letters (U+0430, U+0440, U+04CF, U+0435): it is xn--80ak6aa92e.com`}},
		{`{"u":"https://bücher.example"}`, []string{`the host "bücher.example" has non-ASCII letters (U+00FC): it is xn--bcher-kva.example`}},
		{`{"u":"xn--80ak6aa92e.com"}`, []string{"the host xn--80ak6aa92e.com encodes non-ASCII letters"}},
		{`{"u":"https://apple.com@evil.example/"}`, []string{"an address has a user name before its host, evil.example"}},
		{`{"u":"https://аpple.com"}`, []string{`the host "аpple.com" has non-ASCII letters (U+0430): it is xn--pple-43d.com`}},
		{`{"path":"/home/аdmin"}`, []string{`the word "аdmin" mixes letters from several alphabets: U+0430`}},
	} {
		got := warnings([][]byte{[]byte(c.value)}, [][]byte{[]byte(c.value), nil})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", c.value, got, c.want)
		}
	}
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, ` https://u@h%d.example`, i)
	}
	if got := warnings(nil, [][]byte{[]byte(`"` + many.String() + `"`)}); len(got) != maxWarnings+1 || !strings.Contains(got[maxWarnings], "more") {
		t.Errorf("%q", got)
	}
}

// TestPunycode uses samples from RFC 3492, section 7.1.
func TestPunycode(t *testing.T) {
	for label, want := range map[string]string{
		"他们为什么不说中文":                                "ihqwcrb4cv8a8dqg056pqjye",
		"почемужеонинеговорятпорусски":             "b1abfaaepdrnnbgefbadotcwatmq2g4l",
		"porquénopuedensimplementehablarenespañol": "porqunopuedensimplementehablarenespaol-fmd56a",
		"3年b組金八先生":                                 "3b-ww4c5e180e575a65lsy2b",
	} {
		if got := punycode(label); got != want {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
	}
}

// TestReadInPlace checks that a large call is not copied while it is searched for misleading
// content.
func TestReadInPlace(t *testing.T) {
	value := []byte(`{"data":"` + strings.Repeat("ab--c ", 1<<19) + `"}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := warnings([][]byte{value}, [][]byte{value})
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > uint64(len(value))/4 || len(got) > 0 {
		t.Errorf("%d bytes for one of %d; %q", after.TotalAlloc-before.TotalAlloc, len(value), got)
	}
	for text, want := range map[string]bool{"xn--a": true, "XN--a": true, "a--b xN--c": true, "--": false, "n--xn-": false, "x---n": false, "axn---b": true} {
		if hasCode([]byte(text)) != want {
			t.Errorf("%s: want %v", text, want)
		}
	}
}
