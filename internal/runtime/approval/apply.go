package approval

import (
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// The functions in this file must be called with Broker.mu held.

// apply sets q's progress to d if version is newer than q's version.
func (t *requests) apply(q *Request, d Progress, version int64) {
	if version <= q.version {
		return
	}
	if len(d.Rejections) > len(q.progress.Rejections) {
		q.progress.Rejections = d.Rejections
		t.notifyChanged()
	}
	if q.version, q.progress.Shared = version, q.progress.Shared || d.Shared; d.Unasked {
		q.leaveUnasked(Elicit)
	}
	switch {
	case !q.live():
		return
	case q.claimed: // a call has claimed the approval; once the claim ends, the new state is read from the store
		q.stale = true
		return
	}
	t.notifyChanged()
	before := q.progress.Answer.State
	q.progress.Approvers = d.Approvers
	q.progress.Answer = d.Answer
	q.progress.Answer.State = before
	switch s := d.Answer.State; {
	case s == Approved && before == Pending:
		q.progress.Answer.State = Approved
		t.last.add(q)
		t.uncountRecent(q)
		t.wake(q, Approved)
	case !isLive(s):
		t.finish(q, s)
		if s == Denied && !d.Stands.IsZero() {
			q.progress.Stands = d.Stands
		}
	}
}

// learn updates the table with a request read from the store. It adds an unknown request only if
// the request is in force (pending, approved or still denied) or if ended is true.
func (t *requests) learn(row backend.Approval, ended bool, now time.Time) error {
	q := t.byID[row.ID]
	if q != nil && row.Version <= q.version && now.Before(row.Expires) {
		q.stale = q.stale && q.claimed
		return nil
	}
	doc, err := read(row)
	if err != nil {
		return err
	}
	inForce := isLive(doc.Answer.State) && now.Before(row.Expires) || doc.Answer.State == Denied && now.Before(doc.Stands)
	switch {
	case q != nil:
		t.apply(q, doc.Progress, row.Version)
		q.stale = q.stale && q.claimed
	case inForce || ended:
		other := t.byKey[doc.Key]
		q = t.foreignRequest(row, doc)
		t.insert(q)
		if t.apply(q, doc.Progress, row.Version); other != nil && !inForce {
			t.byKey[doc.Key] = other
		}
	}
	return nil
}

// foreignRequest returns the request for a row that another broker has stored.
func (t *requests) foreignRequest(row backend.Approval, doc document) *Request {
	if doc.Call.Masked == 0 && len(doc.Call.Arguments) <= maxCompared {
		doc.Call.exact = doc.Call.Arguments
	}
	doc.Call.copied = len(doc.Call.Arguments) + len(doc.Call.Beside) + len(doc.Call.Meta) + len(doc.Call.SeenMeta)
	q := &Request{
		ID: row.ID, Key: doc.Key, Conditions: doc.Conditions, Created: row.Created, Expires: row.Expires,
		question: doc.Question, accounts: t.accounts.charged(doc.Call), progress: Progress{Answer: Answer{State: Pending}},
		answered: make(chan struct{}), unasked: make(chan struct{}), parked: true, foreign: true, announced: true,
	}
	t.setChannels(q)
	return q
}
