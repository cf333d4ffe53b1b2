package approval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A clock is set by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// newTestBroker returns a broker whose requests are valid for a minute.
func newTestBroker() (*Broker, *clock) {
	c := &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	return newBrokerOf([]string{Elicit, CLI}, c.now), c
}

func newBrokerOf(channels []string, now func() time.Time) *Broker {
	return New(Options{Expire: time.Minute, Cooldown: 30 * time.Second, Channels: channels, Now: now})
}

func open(t *testing.T, b *Broker, key Key) *Request {
	t.Helper()
	q, err := b.Open(key, Call{Tool: key.Tool}, &gate.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func pending(q *Request) bool { return !closed(q.Answered()) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// redeem uses up q as an admitted call does.
func redeem(b *Broker, q *Request) bool {
	if b.Claim(q.ID) != nil {
		return false
	}
	b.Consume(q.ID)
	return true
}

// TestOneConsent checks that equal calls share a request, and that one of them uses up the answer,
// once.
func TestOneConsent(t *testing.T) {
	b, clock := newTestBroker()
	first, second := open(t, b, Key{Tool: "push"}), open(t, b, Key{Tool: "push"})
	if first != second || first == open(t, b, Key{Tool: "push", Arguments: "other"}) {
		t.Error("a question is not that of its very call")
	}
	if redeem(b, first) {
		t.Error("nobody has said yes")
	}
	if err := b.Answer(first.ID, true, "cli", "ann", "fine"); err != nil || pending(first) {
		t.Errorf("%v, pending %t", err, pending(first))
	}
	if err := b.Answer(first.ID, false, "cli", "bob", ""); err == nil || !strings.Contains(err.Error(), "already approved") {
		t.Errorf("the second answer counts: %v", err)
	}
	if want := (Answer{Approved, "cli", "ann", "fine", b.options.Now(), 1, ""}); b.Status(first) != want {
		t.Errorf("%+v, want %+v", b.Status(first), want)
	}
	if err := b.Claim(first.ID); err != nil || !errors.Is(b.Claim(first.ID), ErrUsed) {
		t.Errorf("claimed: %v; a claim is for one call", err)
	}
	clock.at = clock.at.Add(2 * time.Minute)
	if b.requests.sweep(); b.Status(first).State != Approved {
		t.Error("it expired while a call was about to use it up")
	}
	clock.at = clock.at.Add(-2 * time.Minute)
	if b.Unclaim(first.ID); b.Status(first).State != Approved {
		t.Error("a call that did not pass used the consent up")
	}
	var passed atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if redeem(b, first) {
				passed.Add(1)
			}
		})
	}
	group.Wait()
	if passed.Load() != 1 || b.Status(first).State != Consumed {
		t.Errorf("%d calls passed, %+v", passed.Load(), b.Status(first))
	}
	if again := open(t, b, Key{Tool: "push"}); again == first || b.Status(again).State != Pending {
		t.Error("what was used up is asked no more")
	}
}

// TestSeveralPersons checks that a call that needs two people passes once two different people have
// approved it. The client's answers all count as one person, and one denial is enough.
func TestSeveralPersons(t *testing.T) {
	two := &gate.Ask{Steps: []gate.Step{{Net: "n", Approvals: 2}, {Net: "m"}}}
	type said struct {
		person, channel string
		approve         bool
	}
	for name, c := range map[string]struct {
		said    []said
		refused int // number of refused answers
		want    State
		actor   string
	}{
		"one":                     {[]said{{"ann", CLI, true}}, 0, Pending, "ann"},
		"one twice":               {[]said{{"ann", CLI, true}, {"ann", CLI, true}}, 1, Pending, "ann"},
		"two":                     {[]said{{"ann", CLI, true}, {"bob", CLI, true}}, 0, Approved, "ann, bob"},
		"a third is late":         {[]said{{"ann", CLI, true}, {"bob", CLI, true}, {"eve", CLI, true}}, 1, Approved, "ann, bob"},
		"the client and one":      {[]said{{"", Elicit, true}, {"ann", CLI, true}}, 0, Approved, ", ann"},
		"the client twice":        {[]said{{"x", Elicit, true}, {"y", Elicit, true}}, 1, Pending, "x"},
		"nobody is proven":        {[]said{{"", CLI, true}, {"", CLI, true}}, 1, Pending, ""},
		"a denial":                {[]said{{"ann", CLI, true}, {"bob", CLI, false}}, 0, Denied, "bob"},
		"who approved may deny":   {[]said{{"ann", CLI, true}, {"ann", CLI, false}}, 0, Denied, "ann"},
		"the client denies first": {[]said{{"", Elicit, false}, {"ann", CLI, true}}, 1, Denied, ""},
	} {
		b, _ := newTestBroker()
		q, err := b.Open(Key{}, Call{}, two)
		if err != nil {
			t.Fatal(err)
		}
		b.Put(q, Elicit)
		b.Put(q, CLI)
		refused := 0
		for _, s := range c.said {
			if b.AnswerAs(s.person, q.ID, s.approve, s.channel, s.person, "") != nil {
				refused++
			}
		}
		if a := b.Status(q); a.State != c.want || refused != c.refused || a.Actor != c.actor || pending(q) != (c.want == Pending) {
			t.Errorf("%s: %+v, %d answers refused", name, a, refused)
		}
		if got := redeem(b, q); got != (c.want == Approved) {
			t.Errorf("%s: redeemed %t", name, got)
		}
		if c.want == Pending && !strings.Contains(b.Look(q).Text(gate.Position.String, b.options.Now()), "approved by 1 of 2 people") {
			t.Errorf("%s: the question does not say who is missing", name)
		}
	}
	b := newBrokerOf([]string{Elicit}, time.Now)
	if _, err := b.Open(Key{}, Call{}, two); err == nil || !strings.Contains(err.Error(), "2 different people, but only the person at the client") {
		t.Errorf("where only the client can be asked: %v", err)
	}
}

// TestLeave checks that a request exists as long as a call waits for it or was told to come back.
func TestLeave(t *testing.T) {
	b, _ := newTestBroker()
	q := open(t, b, Key{Tool: "alone"})
	open(t, b, Key{Tool: "alone"})
	if b.Release(q, false); b.Status(q).State != Pending {
		t.Error("one waits still")
	}
	if b.Release(q, false); b.Status(q).State != Withdrawn || pending(q) {
		t.Error("nobody waits any more")
	}
	q = open(t, b, Key{Tool: "parked"})
	if b.Release(q, true); b.Status(q).State != Pending {
		t.Error("a call may come back")
	}
}

// TestSessionEnds checks that requests of an ended session are withdrawn, because its calls cannot
// come back.
func TestSessionEnds(t *testing.T) {
	b, _ := newTestBroker()
	q, other := open(t, b, Key{Session: "one", Tool: "drop"}), open(t, b, Key{Session: "other", Tool: "drop"})
	approved := open(t, b, Key{Session: "one", Tool: "deploy"})
	b.Release(q, true)
	if err := b.Answer(approved.ID, true, CLI, "ann", ""); err != nil {
		t.Fatal(err)
	}
	b.EndSession("none")
	b.EndSession("one")
	if got := []State{b.Status(q).State, b.Status(other).State, b.Status(approved).State}; !slices.Equal(got, []State{Withdrawn, Pending, Approved}) {
		t.Errorf("%v", got)
	}
}

// TestDenialStands checks that a denial is reported to the call that comes back for it, and to
// equal calls while it is in force. Other sessions are asked.
func TestDenialStands(t *testing.T) {
	for _, c := range []struct {
		parked bool
		stands time.Duration
	}{{false, 30 * time.Second}, {true, 50 * time.Second}} { // as long as a call may come back for it
		b, clock := newTestBroker()
		q := open(t, b, Key{Tool: "drop"})
		clock.at = clock.at.Add(10 * time.Second)
		if c.parked {
			b.Release(q, true)
		}
		if err := b.Answer(q.ID, false, CLI, "ann", "no"); err != nil {
			t.Fatal(err)
		}
		if !c.parked {
			b.Release(q, false)
		}
		for at := time.Duration(0); at < c.stands; at += time.Second {
			again := open(t, b, Key{Tool: "drop"})
			if again != q || b.Status(again).State != Denied || redeem(b, q) {
				t.Fatalf("parked %t, after %s: asked again: %+v", c.parked, at, b.Status(again))
			}
			b.Release(again, false)
			clock.at = clock.at.Add(time.Second)
		}
		if other := open(t, b, Key{Tool: "drop", Session: "other"}); b.Status(other).State != Pending {
			t.Error("what one session was denied, another is not asked about")
		}
		if again := open(t, b, Key{Tool: "drop"}); again == q || b.Status(again).State != Pending {
			t.Error("a denial stands for ever")
		}
	}
}

// TestExpiry checks that requests and consents expire.
func TestExpiry(t *testing.T) {
	b, c := newTestBroker()
	asked, consent := open(t, b, Key{Tool: "asked"}), open(t, b, Key{Tool: "consent"})
	if err := b.Answer(consent.ID, true, "cli", "ann", ""); err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(time.Minute)
	if err := b.Answer(asked.ID, true, "cli", "ann", ""); err == nil || pending(asked) {
		t.Errorf("it was answered too late: %v", err)
	}
	if redeem(b, consent) || b.Status(consent).State != Expired {
		t.Error("the consent is too old")
	}
	if n := len(b.List()); n != 2 {
		t.Errorf("%d questions can be looked at", n)
	}
	c.at = c.at.Add(time.Minute + 1)
	if _, ok := b.Find(asked.ID); ok {
		t.Error("a question that ended long ago is found")
	}
	if n := len(b.List()); n != 0 {
		t.Errorf("%d questions are kept for ever", n)
	}
}

// TestUnasked checks that a client that shows the question to no person ends it, unless another
// channel exists. Its answers do not count after that, nor before it was asked.
func TestUnasked(t *testing.T) {
	for _, other := range []bool{false, true} {
		b, _ := newTestBroker()
		if !other {
			b.options.Channels = []string{Elicit}
		}
		q := open(t, b, Key{})
		b.MarkUnasked(q, Elicit)
		if q.WasUnasked() || b.Status(q).State != Pending {
			t.Error("nobody was asked to ask")
		}
		if first, _ := b.Show(q); !b.Put(q, Elicit) || !first {
			t.Error("it is not shown")
		}
		again, gone := b.Show(q)
		if again || closed(gone) {
			t.Error("it is shown twice")
		}
		b.Unshow(q)
		if first, _ := b.Show(q); !first || !closed(gone) {
			t.Error("its prompt is gone, and it is not shown again")
		}
		b.MarkUnasked(q, Elicit)
		if !q.WasUnasked() || !closed(q.Unasked()) || (b.Status(q).State == Pending) != other {
			t.Errorf("another channel %t: %+v", other, b.Status(q))
		}
		if err := b.Answer(q.ID, true, Elicit, "the client", ""); err == nil {
			t.Error("who showed it to nobody answered it")
		}
	}
}

// TestOneDoor checks that an answer counts only through a configured channel that the request's
// rule allows and where the request was put.
func TestOneDoor(t *testing.T) {
	all := []string{Elicit, CLI}
	for _, configured := range [][]string{nil, {Elicit}, {CLI}, all} {
		for _, via := range []string{"", Elicit, CLI} {
			for _, put := range []string{"", Elicit, CLI} {
				for _, channel := range []string{Elicit, CLI, "web", ""} {
					b, _ := newTestBroker()
					b.options.Channels = configured
					q, err := b.Open(Key{}, Call{}, &gate.Ask{Steps: []gate.Step{{Via: via}}})
					if err != nil {
						t.Fatal(err)
					}
					usable := slices.Contains(configured, channel) && (via == "" || via == channel)
					if got := put == "" || b.Put(q, put); got != (put == "" || slices.Contains(configured, put) && (via == "" || via == put)) {
						t.Errorf("configured %v, via %q: put by %q: %t", configured, via, put, got)
					}
					want := usable && (put == channel || channel == CLI) // operators see every request
					if err := b.Answer(q.ID, true, channel, "ann", ""); (err == nil) != want {
						t.Errorf("configured %v, via %q, put by %q: the answer by %q: %v", configured, via, put, channel, err)
					}
				}
			}
		}
	}
}

// TestVia checks that rules can name an answer's channel, but not two channels.
func TestVia(t *testing.T) {
	b, _ := newTestBroker()
	steps := func(via ...string) *gate.Ask {
		a := &gate.Ask{}
		for _, v := range via {
			a.Steps = append(a.Steps, gate.Step{Via: v})
		}
		return a
	}
	q, err := b.Open(Key{}, Call{}, steps("", "cli", "cli"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Answer(q.ID, true, "elicit", "the client", ""); err == nil || b.Status(q).State != Pending {
		t.Errorf("the wrong channel: %v", err)
	}
	if err := b.Answer(q.ID, true, "cli", "ann", ""); err != nil {
		t.Error(err)
	}
	if _, err := b.Open(Key{Tool: "two"}, Call{}, steps("cli", "elicit")); err == nil || !strings.Contains(err.Error(), "via cli and via elicit") {
		t.Errorf("%v", err)
	}
	if err := b.Answer("ap_", true, "cli", "ann", ""); err == nil {
		t.Error("a question that is none was answered")
	}
}

// TestList checks that the oldest request comes first.
func TestList(t *testing.T) {
	b, c := newTestBroker()
	var ids []string
	for i := range 3 {
		ids = append(ids, open(t, b, Key{Tool: fmt.Sprint(i)}).ID)
		c.at = c.at.Add(time.Second)
	}
	for i, s := range b.List() {
		if s.Request.ID != ids[i] || s.Answer.State != Pending {
			t.Errorf("%d: %s, %+v", i, s.Request.ID, s.Answer)
		}
	}
}

// TestApproversByChannel checks which two approvals could come from the same person. A person whom
// the channel does not name could be anyone whom the same system knows: a user of this machine, or a
// user of the system that vouches for the channel's answers.
func TestApproversByChannel(t *testing.T) {
	type approval struct{ channel, person string }
	for _, c := range []struct {
		a, b approval
		same bool
	}{
		{approval{Webhook, "ann"}, approval{Webhook, " Ann "}, true},
		{approval{Webhook, "ann"}, approval{Webhook, "bob"}, false},
		{approval{Webhook, "webhook"}, approval{Webhook, "ann"}, false},
		{approval{Webhook, ""}, approval{Webhook, "ann"}, true},
		{approval{Webhook, ""}, approval{Webhook, " "}, true},
		{approval{Webhook, ""}, approval{CLI, "uid 1000"}, false},
		{approval{Webhook, ""}, approval{CLI, ""}, false},
		{approval{Webhook, "ann"}, approval{CLI, "ann"}, false},
		{approval{CLI, ""}, approval{CLI, "uid 1000"}, true},
		{approval{CLI, ""}, approval{Web, ""}, true},
		{approval{CLI, "uid 1000"}, approval{Web, "uid 1000"}, true},
		{approval{CLI, "uid 1000"}, approval{CLI, "uid 1001"}, false},
		{approval{Elicit, "ann"}, approval{Elicit, ""}, true},
		{approval{Elicit, ""}, approval{CLI, ""}, false},
		{approval{Elicit, ""}, approval{Webhook, ""}, false},
	} {
		for _, order := range [][2]approval{{c.a, c.b}, {c.b, c.a}} {
			b := newBrokerOf([]string{Elicit, Web, CLI, Webhook}, time.Now)
			q, err := b.Open(Key{}, Call{}, &gate.Ask{Steps: []gate.Step{{Net: "n", Approvals: 2}}})
			if err != nil {
				t.Fatal(err)
			}
			for i, said := range order {
				b.Put(q, said.channel)
				err = b.AnswerAs(said.person, q.ID, true, said.channel, "somebody", "")
				if i == 0 && err != nil {
					t.Fatal(err)
				}
			}
			if (err != nil) != c.same || (b.Status(q).State == Approved) == c.same {
				t.Errorf("%v: %v", order, err)
			}
		}
	}
}
