package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Store persists requests for several brokers and across restarts. A [backend.Backend] implements
// it.
type Store interface {
	// PutApproval writes a request whose version in the store is a.Version, 0 for a new one. Its
	// error is [backend.ErrStale] if another writer was faster, or if another live request has the
	// same key.
	PutApproval(ctx context.Context, a backend.Approval) (version int64, err error)

	// Approvals reads the request with the ID, or those with the key. If both are empty, it reads
	// all that are live or ended after since.
	Approvals(ctx context.Context, id, key string, since time.Time) ([]backend.Approval, error)

	// DropApprovals deletes requests that ended before the given time.
	DropApprovals(ctx context.Context, before time.Time) error
}

const (
	storeTimeout = 10 * time.Second // limit for one operation
	maxStale     = 20               // conflicts in a row before giving up
)

// ErrStore is the error for a request or an answer that the store does not accept. As far as is
// known, the request is unchanged.
var ErrStore = errors.New("the approval cannot be kept")

// A document is the stored form of a request, except its columns.
type document struct {
	Key Key
	Question
	Conditions
	Progress
}

// digest returns the stored form of the key, which has a fixed length.
func (k Key) digest() string {
	sum := sha256.Sum256(k.Bytes())
	return hex.EncodeToString(sum[:])
}

// row returns the row of q in the store with the progress p.
func (q *Request) row(p Progress) (backend.Approval, error) {
	doc := document{q.Key, q.question, q.Conditions, p}
	if !isLive(p.Answer.State) {
		doc.Question = q.trimmed()
	}
	data, err := json.Marshal(doc)
	return backend.Approval{
		ID: q.ID, Key: q.Key.digest(), State: string(p.Answer.State), Session: q.Key.Session, Version: q.version,
		Created: q.Created, Expires: q.Expires, Data: data,
	}, err
}

// read decodes a row of the store.
func read(row backend.Approval) (doc document, err error) {
	if err := json.Unmarshal(row.Data, &doc); err != nil {
		return doc, fmt.Errorf("approval %s in the state database: %w", row.ID, err)
	}
	if doc.Key.digest() != row.Key || doc.Needs < 1 {
		return doc, fmt.Errorf("approval %s in the state database is not as it was written", row.ID)
	}
	doc.Answer.State = State(row.State)
	return doc, nil
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

// isLive reports whether a call can still run with a request in the state s.
func isLive(s State) bool { return s == Pending || s == Approved }
