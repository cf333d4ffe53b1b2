package approval

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestTooLate checks that an answer after the first answer or the end changes nothing, is reported
// as an error, and appears in the history of the request, up to a limit. An answer through a
// channel without the request is ignored.
func TestTooLate(t *testing.T) {
	b, _ := newTestBroker()
	q := open(t, b, Key{})
	if err := b.Answer(q.ID, true, CLI, "ada", ""); err != nil {
		t.Fatal(err)
	}
	before := b.Look(q).Answer
	for n := range maxRejections + 2 {
		err := b.Answer(q.ID, n%2 == 0, CLI, "bob", "too risky")
		if rejected, ok := errors.AsType[*RejectedError](err); !ok || rejected.Rejection.Kind != TooLate || !strings.Contains(err.Error(), "is already approved") {
			t.Fatalf("%v", err)
		}
	}
	if err := b.Answer(q.ID, false, Elicit, "the client", ""); err == nil || isRejected(err) {
		t.Errorf("where it was not put: %v", err)
	}
	now := b.Look(q)
	if now.Answer != before || len(now.Rejections) != maxRejections {
		t.Fatalf("%+v", now)
	}
	if r := now.Rejections[1]; r.Approve || r.Actor != "bob" || r.Channel != CLI || r.Reason != "too risky" || !r.At.Equal(b.options.Now()) {
		t.Errorf("%+v", r)
	}
	if !redeem(b, q) {
		t.Error("the consent is lost")
	}
	if err := b.Answer("ap_GUESSED", true, CLI, "bob", ""); err == nil || isRejected(err) {
		t.Errorf("of no request: %v", err)
	}
}

// TestTooLateWhileUsed checks a late answer between the claim of an approval and the end of the
// admission, which continues.
func TestTooLateWhileUsed(t *testing.T) {
	for _, admitted := range []bool{true, false} {
		b, _ := newTestBroker()
		q := open(t, b, Key{})
		if err := errors.Join(b.Answer(q.ID, true, CLI, "ada", ""), b.Claim(q.ID)); err != nil {
			t.Fatal(err)
		}
		if err := b.Answer(q.ID, false, CLI, "bob", ""); !isRejected(err) {
			t.Fatal(err)
		}
		if admitted {
			b.Consume(q.ID)
		} else {
			b.Unclaim(q.ID)
		}
		if got := redeem(b, q); got == admitted {
			t.Errorf("admitted %t, used again %t", admitted, got)
		}
	}
}

func isRejected(err error) bool {
	_, ok := errors.AsType[*RejectedError](err)
	return ok
}

// TestOwnCall: C023. A person who has the calling principal's name, or is configured to be that
// principal, cannot approve the call but can deny it. The request stays open.
func TestOwnCall(t *testing.T) {
	const jwt = "https://login.example.com#ann"
	people := map[string]string{"uid 1000": jwt, "nick": "token:ann", "": "token:ann", "eve": "local"}
	for _, c := range []struct {
		principal     string
		person, actor string
		channel       string
		own           bool
	}{
		{"token:ann", "uid 7", "ann", CLI, true},
		{"token:ann", "uid 7", "token:ann", Web, true},
		{"token:ann", "uid 7", "Ann", CLI, false},
		{"token:ann", "ann", "another", CLI, true},
		{"token:ann", "uid 7", "nick", Web, true},
		{"token:ann", "", "", CLI, false},
		{"token:ann", "", "ann", Elicit, false},
		{jwt, "uid 7", "ann", Webhook, true},
		{jwt, "uid 7", jwt, URL, true},
		{jwt, "uid 1000", "bob", CLI, true},
		{jwt, "uid 1001", "bob", CLI, false},
		{"team#ann", "uid 7", "ann", CLI, false},
		{"local", "uid 7", "local", CLI, false},
		{"anonymous", "uid 7", "anonymous", CLI, false},
		{"token", "uid 7", "token", CLI, false},
		{"local", "uid 7", "eve", CLI, true},
		{"", "uid 7", "bob", CLI, false},
	} {
		for _, self := range []bool{false, true} {
			name := fmt.Sprintf("%+v, self %t", c, self)
			b, _ := newTestBroker()
			b.options.Channels = []string{Elicit, Web, CLI, Webhook, URL}
			b.options.People, b.options.Self = people, self
			q, err := b.Open(Key{}, Call{Principal: c.principal}, &gate.Ask{})
			if err != nil || !b.Put(q, c.channel) {
				t.Fatal(name, err)
			}
			err = b.AnswerAs(c.person, q.ID, true, c.channel, c.actor, "")
			if want := c.own && !self; isRejected(err) != want || (err == nil) == want || pending(q) != want {
				t.Errorf("%s: %v", name, err)
			}
			if !c.own || self {
				continue
			}
			if all := b.Look(q).Rejections; len(all) != 1 || all[0].Kind != OwnCall || !strings.Contains(err.Error(), "another person must answer") {
				t.Errorf("%s: %v, %+v", name, err, all)
			}
			if err := b.AnswerAs(c.person, q.ID, false, c.channel, c.actor, ""); err != nil || b.Status(q).State != Denied {
				t.Errorf("%s: the denial: %v", name, err)
			}
		}
	}
}
