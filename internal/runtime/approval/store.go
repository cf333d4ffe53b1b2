package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Store keeps requests across restarts and shares them between brokers. It is implemented by
// [backend.Backend].
type Store interface {
	// PutApproval writes a request and returns its new version. a.Version is the request's previous
	// version, or 0 for a new request. The error is [backend.ErrStale] if the stored version is
	// different, or if another live request has the same key.
	PutApproval(ctx context.Context, a backend.Approval) (version int64, err error)

	// Approvals returns the request with the given ID, or the requests with the given key. If both
	// strings are empty, it returns the requests that have not ended and those that ended after the
	// given time.
	Approvals(ctx context.Context, id, key string, since time.Time) ([]backend.Approval, error)

	// DropApprovals deletes the requests that ended before the given time.
	DropApprovals(ctx context.Context, before time.Time) error
}

// write writes a row to the store. The error is [backend.ErrStale], or it wraps [ErrStore].
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
	storeTimeout = 10 * time.Second // timeout for a single operation
	maxStale     = 20               // after this many consecutive conflicts, an operation fails
)

// ErrStore is wrapped by the error of an operation that failed because the store could not be read
// or written. The operation probably had no effect.
var ErrStore = errors.New("could not store the approval")

// A document holds the parts of a request that the store keeps as JSON rather than in columns.
type document struct {
	Key Key
	Question
	Conditions
	Progress
}

// row encodes the request q, with the progress p, as a row of the store.
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

// read decodes a stored row, and returns an error if the row is damaged.
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
