package admission

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// maxUnwritten is the maximum number of outcomes to keep until the ledger works again. Calls are
// not admitted while the ledger fails, so only calls that were already in flight can add outcomes.
const maxUnwritten = 10_000

// retryAfter is the delay before retrying to store an outcome that the ledger rejected although
// [Ledger.Ready] returned nil.
const retryAfter = time.Second

// Unwritten holds settlements (outcomes of ended calls) that the ledger could not store because its
// disk is full or its database is unavailable. Only this process knows of them. They are staged
// again, in order, before anything else is staged.
type Unwritten struct {
	admission *Admission

	count atomic.Int32 // len(ends), for reading without mu
	wake  chan struct{}

	catchUpMu sync.Mutex // held while settlements are being retried

	mu   sync.Mutex
	ends []*Settling
}

// add stores the settlement s and wakes Run. It returns false if u already holds maxUnwritten
// settlements.
func (u *Unwritten) add(s *Settling) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.ends) >= maxUnwritten {
		return false
	}
	u.ends = append(u.ends, s)
	u.count.Store(int32(len(u.ends)))
	select {
	case u.wake <- struct{}{}:
	default:
	}
	return true
}

// all returns the settlements in u, oldest first.
func (u *Unwritten) all() []*Settling {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.ends)
}

// drop removes the given settlements, which the ledger has now stored.
func (u *Unwritten) drop(written map[*Settling]bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ends = slices.DeleteFunc(u.ends, func(s *Settling) bool { return written[s] })
	u.count.Store(int32(len(u.ends)))
}

// keep stores in u a settlement that the ledger could not store. If u is full, keep records the
// call's outcome as unknown instead.
func (u *Unwritten) keep(ctx context.Context, s *Settling, why error) {
	a := u.admission
	s.repeated = true
	if s.ticket.settled.Store(true); u.add(s) {
		a.log.Error("could not record an outcome: the proxy keeps it and retries", "tool", s.ticket.Tool,
			"session", s.ticket.Session, "call", s.ticket.Number, "outcome", s.end.Outcome.String(), "error", why)
		return
	}
	s.ticket.settled.Store(false)
	a.log.Error("the outcome stays unknown: too many outcomes wait to be recorded", "tool", s.ticket.Tool, "call", s.ticket.Number, "error", why)
	if s.end.Outcome != gate.Unknown {
		a.Abandon(ctx, s.ticket)
	}
}

// catchUp moves the settlements from u to the ledger if the ledger works again. It must be called
// before the state of a session is read or changed.
func (u *Unwritten) catchUp(ctx context.Context) {
	a := u.admission
	if u.count.Load() == 0 || a.ledger.Ready() != nil {
		return
	}
	u.catchUpMu.Lock()
	defer u.catchUpMu.Unlock()
	ctx = context.WithoutCancel(ctx)
	written := map[*Settling]bool{}
	for _, s := range u.all() {
		if now := a.now(); now.Before(s.retry) {
			continue
		}
		err := Update(ctx, a.ledger, s.ticket.Key, s.run)
		if err != nil && !errors.Is(err, ErrNoSession) {
			if a.ledger.Ready() != nil {
				break // the ledger has failed again, so try later
			}
			s.retry = a.now().Add(retryAfter)
			continue
		}
		written[s] = true
		a.log.Info("recorded a delayed outcome", "tool", s.ticket.Tool, "session", s.ticket.Session, "call", s.ticket.Number)
	}
	u.drop(written)
}

// Run tries repeatedly to store the settlements in u, until ctx is done.
func (u *Unwritten) Run(ctx context.Context) {
	for {
		select {
		case <-u.wake:
		case <-ctx.Done():
			return
		}
		for u.count.Load() > 0 {
			select {
			case <-time.After(retryAfter):
			case <-ctx.Done():
				return
			}
			u.catchUp(ctx)
		}
	}
}

// UnwrittenEnd describes an ended call whose outcome the ledger has not been able to store. The
// process keeps retrying until it exits.
type UnwrittenEnd struct {
	Key
	Call    uint64
	Tool    string
	Since   time.Time
	Outcome string
}

// List returns the ended calls whose outcomes have not been stored yet, oldest first.
func (u *Unwritten) List() []UnwrittenEnd {
	if u.count.Load() == 0 {
		return nil
	}
	return list.Map(u.all(), func(s *Settling) UnwrittenEnd {
		return UnwrittenEnd{s.ticket.Key, s.ticket.Number, s.ticket.Tool, s.ticket.Since, s.end.Outcome.String()}
	})
}

// has reports whether u holds the settlement of the call. If so, the call has ended, but its
// outcome is not stored yet.
func (u *Unwritten) has(session string, call uint64) bool {
	return slices.ContainsFunc(u.List(), func(e UnwrittenEnd) bool { return e.Session == session && e.Call == call })
}
