package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
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

// A draft is what an answer, or the end of a request, makes of it.
type draft struct {
	answer    Answer // with its new state
	approvers []approver
	shared    bool      // calls at several brokers wait for it
	unasked   bool      // the client said that it asked nobody
	stands    time.Time // until when a denial does

	rejections []Rejection // answers that do not count
}

// A document is what a store keeps of a request beside the columns.
type document struct {
	Key       Key
	Call      Call
	Steps     []gate.Step
	Since     *Comparison `json:",omitempty"`
	Via       string
	Needs     int
	Size      int
	Answer    Answer
	Approvers []person `json:",omitempty"`
	Shared    bool     `json:",omitempty"`
	Unasked   bool     `json:",omitempty"`
	Stands    time.Time

	Rejections []Rejection `json:",omitempty"`
}

// A person is an approver as it is stored.
type person struct {
	Client bool   `json:",omitempty"`
	Person string `json:",omitempty"`
}

// digest is the key as it is stored: of one length, whatever callers have written.
func (k Key) digest() string {
	sum := sha256.Sum256(k.Bytes())
	return hex.EncodeToString(sum[:])
}

// row returns q as the store is to keep it with d.
func (q *Request) row(d draft) (backend.Approval, error) {
	doc := document{Key: q.Key, Call: q.call, Steps: q.steps, Since: q.since, Via: q.Via, Needs: q.Needs, Size: q.Size, Answer: d.answer, Shared: d.shared, Unasked: d.unasked, Stands: d.stands, Rejections: d.rejections}
	if !isLive(d.answer.State) {
		doc.Call, doc.Steps, doc.Since = q.trimmed()
	}
	for _, a := range d.approvers {
		doc.Approvers = append(doc.Approvers, person{a.client, a.person})
	}
	data, err := json.Marshal(doc)
	return backend.Approval{
		ID: q.ID, Key: q.Key.digest(), State: string(d.answer.State), Session: q.Key.Session, Version: q.version,
		Created: q.Created, Expires: q.Expires, Data: data,
	}, err
}

// now returns q as it is, as a draft.
func (q *Request) now() draft {
	return draft{q.answer, q.approvers, q.shared, q.WasUnasked(), q.stands, q.rejections}
}

// read returns what the store keeps of a request.
func read(row backend.Approval) (document, draft, error) {
	var doc document
	if err := json.Unmarshal(row.Data, &doc); err != nil {
		return doc, draft{}, fmt.Errorf("approval %s in the state database: %w", row.ID, err)
	}
	if doc.Key.digest() != row.Key || doc.Needs < 1 {
		return doc, draft{}, fmt.Errorf("approval %s in the state database is not as it was written", row.ID)
	}
	d := draft{answer: doc.Answer, shared: doc.Shared, unasked: doc.Unasked, stands: doc.Stands, rejections: doc.Rejections}
	d.answer.State = State(row.State)
	for _, p := range doc.Approvers {
		d.approvers = append(d.approvers, approver{p.Client, p.Person})
	}
	return doc, d, nil
}

// adopted returns a request that another broker has opened.
func (b *Broker) adopted(row backend.Approval, doc document) *Request {
	if doc.Call.Masked == 0 && len(doc.Call.Arguments) <= maxCompared {
		doc.Call.exact = doc.Call.Arguments
	}
	doc.Call.copied = len(doc.Call.Arguments) + len(doc.Call.Beside) + len(doc.Call.Meta) + len(doc.Call.SeenMeta)
	q := &Request{
		ID: row.ID, Key: doc.Key, Via: doc.Via, Needs: doc.Needs, Size: doc.Size, Created: row.Created, Expires: row.Expires,
		call: doc.Call, steps: doc.Steps, since: doc.Since, accounts: b.accounts.of(doc.Call), answer: Answer{State: Pending},
		answered: make(chan struct{}), unasked: make(chan struct{}), parked: true, foreign: true, announced: true,
	}
	b.allow(q)
	return q
}

// take has q be as d says, whose version in the store is newer.
func (b *Broker) take(q *Request, d draft, version int64) {
	if version <= q.version {
		return
	}
	if len(d.rejections) > len(q.rejections) {
		q.rejections = d.rejections
		b.change()
	}
	if q.version, q.shared = version, q.shared || d.shared; d.unasked {
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
	before := q.answer.State
	q.approvers = d.approvers
	q.answer = d.answer
	q.answer.State = before
	switch s := d.answer.State; {
	case s == Approved && before == Pending:
		q.answer.State = Approved
		b.last.note(q)
		b.settleDown(q)
		b.wake(q, Approved)
	case !isLive(s):
		b.finish(q, s)
		if s == Denied && !d.stands.IsZero() {
			q.stands = d.stands
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
		doc, d, err := read(row)
		if err != nil {
			b.options.Log.Error("an approval is left out", "error", err)
			continue
		}
		switch {
		case q != nil:
			b.take(q, d, row.Version)
			q.doubt = q.doubt && q.claimed
		case isLive(d.answer.State) && now.Before(row.Expires), d.answer.State == Denied && now.Before(d.stands):
			q = b.adopted(row, doc)
			b.begin(q)
			b.take(q, d, row.Version)
		case ended:
			other := b.byKey[doc.Key]
			q = b.adopted(row, doc)
			b.begin(q)
			if b.take(q, d, row.Version); other != nil {
				b.byKey[doc.Key] = other
			}
		}
	}
	return over
}

// isLive reports whether a call can still run by a request in the state s.
func isLive(s State) bool { return s == Pending || s == Approved }
