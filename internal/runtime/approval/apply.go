package approval

import "github.com/petrigate/petrigate/internal/runtime/store/backend"

// apply updates q to the progress d if its version is newer. Requires b.mu.
func (b *Broker) apply(q *Request, d Progress, version int64) {
	if version <= q.version {
		return
	}
	if len(d.Rejections) > len(q.progress.Rejections) {
		q.progress.Rejections = d.Rejections
		b.notifyChanged()
	}
	if q.version, q.progress.Shared = version, q.progress.Shared || d.Shared; d.Unasked {
		q.leaveUnasked(Elicit)
	}
	switch {
	case !q.live():
		return
	case q.claimed: // the claiming call decides the result
		q.stale = true
		return
	}
	b.notifyChanged()
	before := q.progress.Answer.State
	q.progress.Approvers = d.Approvers
	q.progress.Answer = d.Answer
	q.progress.Answer.State = before
	switch s := d.Answer.State; {
	case s == Approved && before == Pending:
		q.progress.Answer.State = Approved
		b.last.add(q)
		b.uncountRecent(q)
		b.wake(q, Approved)
	case !isLive(s):
		b.finish(q, s)
		if s == Denied && !d.Stands.IsZero() {
			q.progress.Stands = d.Stands
		}
	}
}

// learnHere applies rows of the store, and returns the IDs of those that have expired. Requires
// b.mu.
func (b *Broker) learnHere(rows []backend.Approval, ended bool) (over []string) {
	now := b.options.Now()
	for _, row := range rows {
		q := b.byID[row.ID]
		if q != nil && row.Version <= q.version && now.Before(row.Expires) {
			q.stale = q.stale && q.claimed
			continue
		}
		if isLive(State(row.State)) && !now.Before(row.Expires) {
			over = append(over, row.ID)
		}
		if isGrant(row) {
			if err := b.grants.learn(row); err != nil {
				b.options.Log.Error("a grant is left out", "error", err)
			}
			continue
		}
		doc, err := read(row)
		if err != nil {
			b.options.Log.Error("an approval is left out", "error", err)
			continue
		}
		switch {
		case q != nil:
			b.apply(q, doc.Progress, row.Version)
			q.stale = q.stale && q.claimed
		case isLive(doc.Answer.State) && now.Before(row.Expires), doc.Answer.State == Denied && now.Before(doc.Stands):
			q = b.foreignRequest(row, doc)
			b.insert(q)
			b.apply(q, doc.Progress, row.Version)
		case ended:
			other := b.byKey[doc.Key]
			q = b.foreignRequest(row, doc)
			b.insert(q)
			if b.apply(q, doc.Progress, row.Version); other != nil {
				b.byKey[doc.Key] = other
			}
		}
	}
	return over
}

// foreignRequest returns a request that another broker has opened.
func (b *Broker) foreignRequest(row backend.Approval, doc document) *Request {
	if doc.Call.Masked == 0 && len(doc.Call.Arguments) <= maxCompared {
		doc.Call.exact = doc.Call.Arguments
	}
	doc.Call.copied = len(doc.Call.Arguments) + len(doc.Call.Beside) + len(doc.Call.Meta) + len(doc.Call.SeenMeta)
	q := &Request{
		ID: row.ID, Key: doc.Key, Conditions: doc.Conditions, Created: row.Created, Expires: row.Expires,
		question: doc.Question, accounts: b.accounts.of(doc.Call), progress: Progress{Answer: Answer{State: Pending}},
		answered: make(chan struct{}), unasked: make(chan struct{}), parked: true, foreign: true, announced: true,
	}
	b.setChannels(q)
	return q
}
