package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A storage writes changes to a broker's requests to the store, and applies changes by other
// brokers. It holds no lock while it waits for the store. If there is a conflict, it reads the row
// again and retries.
type storage struct {
	broker *Broker
	store  Store
	log    *slog.Logger
}

// open is like requests.open, but the store must accept a new request first.
func (s *storage) open(key Key, call Call, ask *gate.Ask) (*Request, error) {
	for n := 0; ; n++ {
		q, err := s.openOnce(key, call, ask, n > 0)
		if !errors.Is(err, backend.ErrStale) || n == maxStale {
			return q, err
		}
	}
}

// openOnce makes one attempt to open a request. The error is [backend.ErrStale] if another broker
// opened the request first.
func (s *storage) openOnce(key Key, call Call, ask *gate.Ask, again bool) (*Request, error) {
	if again || !s.broker.hasRequest(key) {
		if err := s.look("", key); err != nil {
			return nil, err
		}
	}
	q, joins, err := s.broker.join(key, call, ask)
	if err != nil {
		return nil, err
	}
	if joins {
		s.share(q)
		return q, nil
	}
	d, err := s.broker.grants.draft(q)
	if err != nil {
		return nil, err
	}
	row, err := q.row(d)
	if err != nil {
		return nil, err
	}
	version, err := write(s.store, row)
	if err != nil {
		return nil, err
	}
	return s.broker.addStored(q, d, version), nil
}

// share marks q as shared by calls at several brokers, so that it is not withdrawn when one
// broker's calls stop waiting. It does nothing unless q is pending and was opened by another
// broker.
func (s *storage) share(q *Request) {
	err := s.amend(q.ID, func(q *Request) (d Progress, ok bool, err error) {
		if q == nil || !q.foreign || q.progress.Shared || q.progress.Answer.State != Pending {
			return d, false, nil
		}
		d = q.progress
		d.Shared = true
		return d, true, nil
	})
	if err != nil {
		s.log.Error("could not mark an approval as shared: another process may withdraw it", "approval", q.ID, "error", err)
	}
}

// amend changes the request with the given ID once the store has accepted the change.
func (s *storage) amend(id string, f amendment) error {
	for n := 0; ; n++ {
		if n > 0 || !s.broker.has(id) {
			if err := s.look(id, Key{}); err != nil {
				return err
			}
		}
		q, d, row, ok, err := s.broker.draft(id, f)
		if err != nil || !ok {
			return err
		}
		version, err := write(s.store, row)
		if err == nil {
			s.broker.accept(q, d, version)
		}
		if !errors.Is(err, backend.ErrStale) || n == maxStale {
			return err
		}
	}
}

// look reads the request with the given ID from the store, even if it has ended, and updates the
// broker. If id is empty, it reads the requests with the given key instead. If a request has
// expired, look marks it as expired in the store. An expired request would otherwise block new
// requests with the same key.
func (s *storage) look(id string, key Key) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	digest := ""
	if id == "" {
		digest = key.digest()
	}
	return s.read(ctx, id, digest, time.Time{})
}

func (s *storage) read(ctx context.Context, id, digest string, since time.Time) error {
	rows, err := s.store.Approvals(ctx, id, digest, since)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	for _, row := range s.broker.learn(rows, id != "") {
		row.State = string(Expired)
		if _, err := s.store.PutApproval(ctx, row); err != nil && !errors.Is(err, backend.ErrStale) {
			return fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return nil
}

// refresh reads from the store the requests that have not ended and those that ended after the
// given time. It deletes all other requests from the store.
func (s *storage) refresh(ctx context.Context, since time.Time) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err := s.read(ctx, "", "", since)
	if err == nil {
		err = s.store.DropApprovals(ctx, since)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("cannot read the approvals of other processes", "error", err)
	}
}
