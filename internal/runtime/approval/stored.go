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

// A Store keeps requests for several brokers, over restarts. A [backend.Backend] is one.
type Store interface {
	// PutApproval writes a request whose version in the store is a.Version, 0 for a new one.
	// Its error is [backend.ErrStale] where another was faster, or another live one has the key.
	PutApproval(ctx context.Context, a backend.Approval) (version int64, err error)

	// Approvals reads the request with the id, or those with the key, or, where both are
	// empty, all that are live or ended after since.
	Approvals(ctx context.Context, id, key string, since time.Time) ([]backend.Approval, error)

	// DropApprovals forgets those that ended before.
	DropApprovals(ctx context.Context, before time.Time) error
}

const (
	storeTimeout = 10 * time.Second // for one step of the store
	maxStale     = 20               // steps that others were faster than, one after the other
)

// ErrStore is the error of a request or an answer that the store does not take. The request
// is as it was, as far as is known.
var ErrStore = errors.New("the approval cannot be kept")

// A document is what a store keeps of a request beside the columns.
type document struct {
	Key Key
	Question
	Conditions
	Progress
}

// digest is the key as it is stored: of one length, whatever callers have written.
func (k Key) digest() string {
	sum := sha256.Sum256(k.Bytes())
	return hex.EncodeToString(sum[:])
}

// row returns the row of q in the store once p is its progress.
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

// read returns what the store keeps of a request.
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

// adopted returns a request that another broker has opened.
func (b *Broker) adopted(row backend.Approval, doc document) *Request {
	if doc.Call.Masked == 0 && len(doc.Call.Arguments) <= maxCompared {
		doc.Call.exact = doc.Call.Arguments
	}
	doc.Call.copied = len(doc.Call.Arguments) + len(doc.Call.Beside) + len(doc.Call.Meta) + len(doc.Call.SeenMeta)
	q := &Request{
		ID: row.ID, Key: doc.Key, Conditions: doc.Conditions, Created: row.Created, Expires: row.Expires,
		question: doc.Question, accounts: b.accounts.of(doc.Call), progress: Progress{Answer: Answer{State: Pending}},
		answered: make(chan struct{}), unasked: make(chan struct{}), parked: true, foreign: true, announced: true,
	}
	b.allow(q)
	return q
}

// take has q be as d says, whose version in the store is newer.
func (b *Broker) take(q *Request, d Progress, version int64) {
	if version <= q.version {
		return
	}
	if len(d.Rejections) > len(q.progress.Rejections) {
		q.progress.Rejections = d.Rejections
		b.change()
	}
	if q.version, q.progress.Shared = version, q.progress.Shared || d.Shared; d.Unasked {
		q.leaveUnasked(Elicit)
	}
	switch {
	case !q.live():
		return
	case q.claimed: // whoever has claimed it says what became of it
		q.doubt = true
		return
	}
	b.change()
	before := q.progress.Answer.State
	q.progress.Approvers = d.Approvers
	q.progress.Answer = d.Answer
	q.progress.Answer.State = before
	switch s := d.Answer.State; {
	case s == Approved && before == Pending:
		q.progress.Answer.State = Approved
		b.last.note(q)
		b.settleDown(q)
		b.wake(q, Approved)
	case !isLive(s):
		b.finish(q, s)
		if s == Denied && !d.Stands.IsZero() {
			q.progress.Stands = d.Stands
		}
	}
}

// learnHere takes over what the store says of requests, and returns those whose time is over.
func (b *Broker) learnHere(rows []backend.Approval, ended bool) (over []string) {
	now := b.options.Now()
	for _, row := range rows {
		q := b.byID[row.ID]
		if q != nil && row.Version <= q.version && now.Before(row.Expires) {
			q.doubt = q.doubt && q.claimed
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
			b.take(q, doc.Progress, row.Version)
			q.doubt = q.doubt && q.claimed
		case isLive(doc.Answer.State) && now.Before(row.Expires), doc.Answer.State == Denied && now.Before(doc.Stands):
			q = b.adopted(row, doc)
			b.begin(q)
			b.take(q, doc.Progress, row.Version)
		case ended:
			other := b.byKey[doc.Key]
			q = b.adopted(row, doc)
			b.begin(q)
			if b.take(q, doc.Progress, row.Version); other != nil {
				b.byKey[doc.Key] = other
			}
		}
	}
	return over
}

// isLive reports whether a call can still run by a request in the state s.
func isLive(s State) bool { return s == Pending || s == Approved }
