package approval

import (
	"fmt"
	"slices"
	"strings"
)

// Answer calls [Broker.AnswerAs] with actor as both the person and the actor.
func (b *Broker) Answer(id string, approve bool, channel, actor, reason string) error {
	return b.AnswerAs(actor, id, approve, channel, actor, reason)
}

// AnswerAs records an answer. The string person identifies the person who answers, as far as the
// channel can prove it, and is used to tell approvers apart. The string actor is the name to
// record.
//
// A denial takes effect immediately. An approval takes effect once enough different people have
// approved. All answers from the client count as answers of the same person. Two approvals through
// the same webhook, or by users of this machine, count separately only if each identifies a
// different person.
//
// An answer counts only if its channel has shown the request (see [Broker.Put]). The error is a
// [RejectedError] if the answer came too late, or if the caller approved its own call without
// permission (see Options.Self). Callers outside the proxy must use operator.Proxy.Answer instead,
// which also checks the PIN.
func (b *Broker) AnswerAs(person, id string, approve bool, channel, actor, reason string) error {
	who := approverAt(channel, person)
	said := Rejection{Approve: approve, Channel: channel, Actor: actor, Reason: clip(reason, maxReason), At: b.options.Now()}
	var rejected *RejectedError
	err := b.amend(id, func(q *Request) (Progress, bool, error) {
		err := b.requests.checkAnswerable(q, id, channel)
		if rejected = b.options.rejection(q, who.Person, said); rejected != nil {
			d := q.progress
			if len(d.Rejections) == maxRejections {
				return d, false, nil
			}
			d.Rejections = append(slices.Clone(d.Rejections), rejected.Rejection)
			return d, true, nil
		}
		if err != nil {
			return Progress{}, false, err
		}
		d := q.progress
		if approve && slices.ContainsFunc(d.Approvers, who.mayBe) {
			return d, false, fmt.Errorf("approval %s needs %d different people, and this person has already approved it", id, q.Needs)
		}
		d.Answer.Channel, d.Answer.Actor, d.Answer.Reason, d.Answer.At = channel, actor, said.Reason, said.At
		if !approve {
			d.Answer.State, d.Stands = Denied, b.requests.standsUntil(q)
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
		b.options.Log.Error("could not store a rejected answer", "approval", id, "error", err)
	}
	return rejected
}

// rejection returns the error for an answer that must be rejected and recorded, or nil for any
// other answer. It must be called with Broker.mu held.
func (o *Options) rejection(q *Request, person string, said Rejection) *RejectedError {
	switch {
	case q == nil || !slices.Contains(q.open, said.Channel):
		return nil
	case q.progress.Answer.State != Pending:
		said.Kind = TooLate
	case said.Approve && said.Channel != Elicit && !o.Self && o.isOwn(q, person, said.Actor):
		said.Kind = OwnCall
	default:
		return nil
	}
	return &RejectedError{said, q.record()}
}

// isOwn reports whether the person or the actor is the calling principal, judging by their names
// and by o.People.
func (o *Options) isOwn(q *Request, person, actor string) bool {
	principal := q.question.Call.Principal
	own := principalName(principal)
	for _, name := range []string{actor, person} {
		said, known := o.People[name]
		if name != "" && (known && said == principal || own != "" && (name == own || name == principal)) {
			return true
		}
	}
	return false
}

// principalName returns the authenticated name of a principal: the name of its token or the subject
// of its JWT. For any other principal, such as a client over stdio, it returns "".
func principalName(principal string) string {
	if name, ok := strings.CutPrefix(principal, "token:"); ok {
		return name
	}
	if issuer, subject, _ := strings.Cut(principal, "#"); strings.Contains(issuer, "://") {
		return subject
	}
	return ""
}
