package approval

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// ask opens a request for a call with n bytes of arguments.
func ask(b *Broker, session, principal, tool string, n int) (*Request, error) {
	c := Call{Tool: tool, Session: session, Principal: principal, Arguments: make([]byte, n), Size: n, Client: "tester"}
	return b.Open(Key{Session: session, Tool: tool}, c, &gate.Ask{Steps: []gate.Step{{Net: "n", Reason: "asks"}}})
}

// flood opens requests until the broker accepts no more, and returns the accepted ones. parked is
// how each call leaves its request.
func flood(b *Broker, session, principal string, n int, parked bool) (taken []*Request, err error) {
	known := len(b.requests.byID)
	for i := range 100_000 {
		q, err := ask(b, session, principal, fmt.Sprint(known+i), n)
		if err != nil {
			return taken, err
		}
		taken = append(taken, q)
		b.Release(q, parked)
	}
	return taken, nil
}

// held returns the memory that all of the broker's requests keep for their calls.
func held(b *Broker) (n int) {
	for _, s := range b.List() {
		n += s.Call.bytes(s.Steps)
	}
	return n
}

// TestShares checks that neither a session nor a principal can use up what the others need,
// whichever limit it exceeds.
func TestShares(t *testing.T) {
	for name, c := range map[string]struct {
		bytes  int
		minute bool // a minute passes between two floods
		deny   bool
		want   error
		most   int
	}{
		"at once":     {1, false, false, errRecent, limits.session.recent},
		"in time":     {1, true, false, errWaiting, limits.session.waiting},
		"large calls": {3 << 20, false, false, errBytes, limits.session.bytes / (3 << 20)},
		"denied":      {1, true, true, errDenied, limits.session.denied + limits.session.recent},
	} {
		t.Run(name, func(t *testing.T) {
			b, clock := newTestBroker()
			b.options.Expire, b.options.Cooldown = time.Hour, time.Hour
			var all []*Request
			var err error
			for range 5 {
				var some []*Request
				if some, err = flood(b, "one", "mallory", c.bytes, true); c.minute {
					clock.at = clock.at.Add(time.Minute)
				}
				if all = append(all, some...); c.deny {
					for _, q := range some {
						if err := b.Answer(q.ID, false, CLI, "ann", ""); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if !errors.Is(err, c.want) || len(all) > c.most {
				t.Errorf("it took %d questions, and then: %v", len(all), err)
			}
			if _, err := ask(b, "two", "mallory", "deploy", 1); err != nil {
				t.Errorf("another session of the principal: %v", err)
			}
			for i := range 20 { // the principal's other sessions use up its share
				_, _ = flood(b, fmt.Sprint("many", i), "mallory", c.bytes, true)
			}
			if _, err := ask(b, "new", "mallory", "deploy", 1<<20); err == nil {
				t.Error("the sessions of one principal have no bound together")
			}
			if q, err := ask(b, "three", "ann", "deploy", 3<<20); err != nil || b.Answer(q.ID, true, CLI, "bob", "") != nil || !redeem(b, q) {
				t.Errorf("another principal: %v", err)
			}
			if n := held(b); n > limits.principal.bytes+1<<20 {
				t.Errorf("%d bytes are kept", n)
			}
		})
	}
}

// TestRoomAgain checks that charges are returned however a question ends, and that the known
// request is always found.
func TestRoomAgain(t *testing.T) {
	b, clock := newTestBroker()
	all, err := flood(b, "s", "p", 1, true)
	if !errors.Is(err, errRecent) {
		t.Fatal(err)
	}
	if again, err := ask(b, "s", "p", "0", 1); err != nil || again != all[0] {
		t.Errorf("who comes back: %v", err)
	}
	for _, q := range all[:limits.session.recent/2] {
		if err := b.Answer(q.ID, true, CLI, "ann", ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask(b, "s", "p", "one more", 1); err != nil {
		t.Errorf("people who approve are not asked: %v", err)
	}
	clock.at = clock.at.Add(time.Hour)
	if n := len(b.List()); n == 0 || len(b.requests.byKey) != 0 {
		t.Errorf("%d questions, %d of them can be asked for", n, len(b.requests.byKey))
	}
	clock.at = clock.at.Add(time.Hour)
	if b.requests.sweep(); len(b.requests.byID)+len(b.requests.byKey)+len(b.requests.accounts)+b.requests.recent.Len()+b.requests.live.Len()+b.requests.ended.Len()+b.requests.denied.Len() != 0 {
		t.Errorf("something is left: %d %d %d", len(b.requests.byID), len(b.requests.byKey), len(b.requests.accounts))
	}
}

// TestEndedKeepsLittle checks that little is kept of a call that can no longer run, that its size
// and digest are kept, and that the number of such calls is limited.
func TestEndedKeepsLittle(t *testing.T) {
	b, clock := newTestBroker()
	b.options.Channels = nil // no person can be asked
	for i := range 1000 {
		q, err := ask(b, fmt.Sprint("s", i%7), fmt.Sprint("p", i%2), fmt.Sprint(i), 2<<20)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		b.Release(q, false)
		clock.at = clock.at.Add(time.Millisecond)
	}
	if n := len(b.List()); n != 2*maxEnded {
		t.Errorf("%d questions that ended are kept", n)
	}
	if n := held(b); n > 2*maxEnded*100 {
		t.Errorf("%d bytes of calls are kept that cannot run", n)
	}
	for _, a := range b.requests.accounts {
		if a.bytes != 0 || a.waiting != 0 || a.recent != 0 {
			t.Errorf("%+v", a)
		}
	}
	text := b.List()[0].Text(gate.Position.String, clock.at)
	for _, want := range []string{"Arguments (2097152 bytes", "not kept", "withdrawn."} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

// TestLongWords checks that the reason for an answer, and the name of a client, are kept up to a
// readable length.
func TestLongWords(t *testing.T) {
	b, _ := newTestBroker()
	long := strings.Repeat("é", 1<<20)
	q, err := b.Open(Key{}, Call{Client: long}, &gate.Ask{Steps: []gate.Step{{Reason: long, Name: long}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Answer(q.ID, false, CLI, "ann", long); err != nil {
		t.Fatal(err)
	}
	s := b.Look(q)
	for _, text := range []string{s.Answer.Reason, s.Call.Client, s.Steps[0].Reason, s.Steps[0].Name} {
		if len(text) > 2<<10 || !strings.HasSuffix(text, "é... (2097152 bytes)") {
			t.Errorf("%d bytes: %.20q", len(text), text)
		}
	}
}

// BenchmarkFlooded opens and leaves a request beside as many others as the limits allow.
func BenchmarkFlooded(b *testing.B) {
	book, clock := newTestBroker()
	book.options.Expire = time.Hour
	for i := range 50 {
		for j := range 4 {
			_, _ = flood(book, fmt.Sprint(i, j), fmt.Sprint(i), 1, true)
		}
	}
	clock.at = clock.at.Add(time.Minute)
	for b.Loop() {
		q, err := ask(book, "s", "p", "deploy", 1)
		if err != nil {
			b.Fatal(err)
		}
		_ = book.Answer(q.ID, true, CLI, "ann", "")
		redeem(book, q)
		book.Release(q, false)
	}
}

// TestMaskedIsCounted checks that with masked values both the waiting calls' messages and the
// displayed form count as memory, and that only the displayed form remains once no call waits.
func TestMaskedIsCounted(t *testing.T) {
	b, _ := newTestBroker()
	b.options.Mask = hidePins
	message := []byte(`{"pin":1234,"text":"` + strings.Repeat("x", 4<<20) + `"}{"meta":1}`)
	arguments, meta := message[:len(message)-10], message[len(message)-10:]
	call := Call{Tool: "push", Session: "s", Principal: "ann", Arguments: arguments, Size: len(arguments), Meta: meta}
	q, err := b.Open(Key{Session: "s"}, call, &gate.Ask{Steps: []gate.Step{{Reason: "asks"}}})
	if err != nil {
		t.Fatal(err)
	}
	counted := func() int { return q.accounts[0].bytes >> 20 }
	if n := counted(); n != 8 {
		t.Errorf("a call that waits counts %d MiB", n)
	}
	if again, err := b.Open(Key{Session: "s"}, call, &gate.Ask{}); again != q || err != nil || counted() != 12 {
		t.Errorf("two calls that wait count %d MiB: %v", counted(), err)
	}
	b.Release(q, true)
	b.Release(q, true)
	if n := counted(); n != 4 {
		t.Errorf("a request without a call that waits counts %d MiB", n)
	}
	clear(message)
	if c := b.Look(q).Call; string(c.Meta) != `{"meta":1}` || !strings.HasPrefix(string(c.Arguments), `{"pin":"***`) {
		t.Error("the message of a call that waits no more is still needed")
	}
}
