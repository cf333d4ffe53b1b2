package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Store persists requests for several brokers and across restarts. A [backend.Backend] implements
// it.
type Store interface {
	// PutApproval writes a request. a.Version is the request's version in the store, or 0 for a new
	// request. The error is [backend.ErrStale] if another writer was faster, or if another live
	// request has the same key.
	PutApproval(ctx context.Context, a backend.Approval) (version int64, err error)

	// Approvals reads the request with the given ID, or the requests with the given key. If id and
	// key are empty, it reads all requests that are live or ended after since.
	Approvals(ctx context.Context, id, key string, since time.Time) ([]backend.Approval, error)

	// DropApprovals deletes requests that ended before the given time.
	DropApprovals(ctx context.Context, before time.Time) error
}

// write writes one row.
func write(to Store, row backend.Approval) (version int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	version, err = to.PutApproval(ctx, row)
	if err != nil && !errors.Is(err, backend.ErrStale) {
		err = fmt.Errorf("%w: %w", ErrStore, err)
	}
	return version, err
}

const (
	storeTimeout = 10 * time.Second // time limit for one operation
	maxStale     = 20               // number of consecutive conflicts that makes an operation fail
)

// ErrStore is the error for a request or an answer that the store did not accept. As far as is
// known, the request is unchanged.
var ErrStore = errors.New("could not store the approval")

// A document is the stored form of the parts of a request that have no columns of their own.
type document struct {
	Key Key
	Question
	Conditions
	Progress
}

// row returns the store's row for q with the progress p.
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

// read decodes a row from the store.
func read(row backend.Approval) (doc document, err error) {
	if err := json.Unmarshal(row.Data, &doc); err != nil {
		return doc, fmt.Errorf("approval %s in the state database: %w", row.ID, err)
	}
	if doc.Key.digest() != row.Key || doc.Needs < 1 {
		return doc, fmt.Errorf("approval %s in the state database is damaged", row.ID)
	}
	doc.Answer.State = State(row.State)
	return doc, nil
}
