package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Answer is the state of a request and, once it is answered, who said what.
type Answer struct {
	State   State
	Channel string
	Actor   string
	Reason  string
	At      time.Time

	Approvals int    // how many different persons have approved; the actor names all of them
	Grant     string `json:",omitempty"` // that has approved it; empty: a person was asked
}

// An approver is one person, as far as the channels tell persons apart.
type approver struct {
	Client bool   `json:",omitempty"` // whoever sits at the client
	Person string `json:",omitempty"` // another, as proven by the channel
}

// PersonAt returns who answers by the webhook: the actor whom the system there vouches for,
// empty where it vouches for nobody.
func PersonAt(actor string) string {
	name := strings.ToLower(strings.Join(strings.Fields(actor), " "))
	if name == "" {
		return Webhook
	}
	return Webhook + ":" + name
}

// mayBe reports whether a and b may be one person: whoever answers by the webhook without a
// name may be anybody who answers there.
func (a approver) mayBe(b approver) bool {
	return a == b || a.atHook() && b.atHook() && (a.Person == Webhook || b.Person == Webhook)
}

func (a approver) atHook() bool {
	return a.Person == Webhook || strings.HasPrefix(a.Person, Webhook+":")
}

// Answer is [Broker.AnswerAs] of a person who is known by the name of the actor.
func (b *Broker) Answer(id string, approve bool, channel, actor, reason string) error {
	return b.AnswerAs(actor, id, approve, channel, actor, reason)
}

// AnswerAs notes what a person said: who it is as far as the channel proves it, which
// tells people apart, and the actor for the record. A denial stands at once, and a consent
// once as many different persons have approved as the rules require. The client's own
// answers are of one person.
//
// AnswerAs is the one door for answers of all channels: one counts only by a channel that
// is configured, that the rules of the request allow, and where this very request was put.
// Its error is a [RejectedError] for an answer that was too late, or by whoever has asked.
func (b *Broker) AnswerAs(person, id string, approve bool, channel, actor, reason string) error {
	who := approver{Person: person}
	if channel == Elicit {
		who = approver{Client: true}
	}
	said := Rejection{Approve: approve, Channel: channel, Actor: actor, Reason: clip(reason, maxReason), At: b.options.Now()}
	var rejected *RejectedError
	err := b.amend(id, func(q *Request) (Progress, bool, error) {
		err := b.answerable(q, id, channel)
		if rejected = b.options.rejection(q, person, said); rejected != nil {
			d, ok := q.reject(rejected.Rejection)
			return d, ok, nil
		}
		if err != nil {
			return Progress{}, false, err
		}
		d := q.progress
		if approve && slices.ContainsFunc(d.Approvers, who.mayBe) {
			return d, false, fmt.Errorf("approval %s needs %d different persons, and this one has approved it already", id, q.Needs)
		}
		d.Answer.Channel, d.Answer.Actor, d.Answer.Reason, d.Answer.At = channel, actor, said.Reason, said.At
		if !approve {
			d.Answer.State, d.Stands = Denied, b.standsUntil(q)
			return d, true, nil
		}
		if len(d.Approvers) > 0 {
			d.Answer.Actor = q.progress.Answer.Actor + ", " + actor
		}
		d.Approvers = append(slices.Clone(d.Approvers), who)
		if d.Answer.Approvals = len(d.Approvers); d.Answer.Approvals >= q.Needs {
			d.Answer.State = Approved
		}
		return d, true, nil
	})
	if rejected == nil {
		return err
	}
	if err != nil {
		b.options.Log.Error("an answer that does not count is not in the history of its approval", "approval", id, "error", err)
	}
	return rejected
}

// answerable returns why no answer by the channel counts for q, or nil. It requires the
// lock of the broker.
func (b *Broker) answerable(q *Request, id, channel string) error {
	switch {
	case q == nil:
		return fmt.Errorf("no approval %s is waiting", id)
	case b.check(q) != Pending:
		return fmt.Errorf("approval %s is %s already", id, q.progress.Answer.State)
	case q.Via != "" && q.Via != channel:
		return fmt.Errorf("approval %s is to be answered via %s only: its rule says so", id, q.Via)
	case !slices.Contains(q.open, channel):
		return fmt.Errorf("approval %s was not put to anybody where this answer comes from", id)
	}
	return nil
}

// standsUntil is until when a denial of q stands that is given now. It requires the lock of
// the broker.
func (b *Broker) standsUntil(q *Request) time.Time {
	until := b.options.Now().Add(b.options.Cooldown)
	if q.waiters == 0 && q.Expires.After(until) {
		return q.Expires // a call was told to come back by then
	}
	return until
}
