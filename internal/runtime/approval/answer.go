package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Answer is the state of a request and, after an answer, who gave it.
type Answer struct {
	State   State
	Channel string
	Actor   string
	Reason  string
	At      time.Time

	Approvals int    // number of different people who have approved; Actor names all of them
	Grant     string `json:",omitempty"` // grant that approved the request; empty: a person did
}

// An approver is one person, as far as the channels can distinguish people.
type approver struct {
	Client bool   `json:",omitempty"` // the person at the client
	Person string `json:",omitempty"` // another person, as proven by the channel
}

// PersonAt returns the identity of a person who answers through the webhook: the actor that the
// external system vouches for, or an anonymous identity if actor is empty.
func PersonAt(actor string) string {
	name := strings.ToLower(strings.Join(strings.Fields(actor), " "))
	if name == "" {
		return Webhook
	}
	return Webhook + ":" + name
}

// mayBe reports whether a and b may be the same person. An anonymous webhook answer may come from
// any person who uses the webhook.
func (a approver) mayBe(b approver) bool {
	return a == b || a.atHook() && b.atHook() && (a.Person == Webhook || b.Person == Webhook)
}

func (a approver) atHook() bool {
	return a.Person == Webhook || strings.HasPrefix(a.Person, Webhook+":")
}

// Answer calls [Broker.AnswerAs] with the actor as the person.
func (b *Broker) Answer(id string, approve bool, channel, actor, reason string) error {
	return b.AnswerAs(actor, id, approve, channel, actor, reason)
}

// AnswerAs records an answer. person identifies who answers, as far as the channel proves it, and
// distinguishes approvers; actor is the name for the record. A denial takes effect immediately, an
// approval as soon as the number of different people that the rules require have approved. All
// answers of the client count as one person.
//
// Every channel must use AnswerAs. An answer counts only if its channel is configured, if the rules
// of the request allow the channel, and if this request was put there. The error is a
// [RejectedError] for an answer that came too late or from the caller itself.
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

// answerable returns the reason why no answer through the channel counts for q, or nil. Requires
// b.mu.
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

// standsUntil returns how long a denial of q remains in force if it is given now. Requires b.mu.
func (b *Broker) standsUntil(q *Request) time.Time {
	until := b.options.Now().Add(b.options.Cooldown)
	if q.waiters == 0 && q.Expires.After(until) {
		return q.Expires // a call was told to come back by then
	}
	return until
}
