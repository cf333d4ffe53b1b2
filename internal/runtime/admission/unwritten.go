package admission

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// maxUnwritten bounds the ends that are kept until the ledger takes them. No call is admitted
// while it takes nothing, so they are those of the calls that were in flight.
const maxUnwritten = 10_000

// retryAfter is how long an end waits that the ledger refused although it is ready.
const retryAfter = time.Second

// Unwritten is the ends of calls that the ledger did not take: its disk is full, or its database
// is away. Only this process knows them. They are staged again, in their order, before anything
// else is staged.
type Unwritten struct {
	admission *Admission

	count atomic.Int32 // of ends
	wake  chan struct{}

	turn sync.Mutex // held while ends are staged again

	mu   sync.Mutex
	ends []*Settling
}

// add adds the end of a call. It reports false where there is no room.
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

// all returns the ends that are kept, the oldest first.
func (u *Unwritten) all() []*Settling {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.ends)
}

// drop removes ends that are written.
func (u *Unwritten) drop(written map[*Settling]bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ends = slices.DeleteFunc(u.ends, func(s *Settling) bool { return written[s] })
	u.count.Store(int32(len(u.ends)))
}

// keep keeps the end of a call that the ledger did not take. Where that is not possible, the
// call is settled as unknown.
func (u *Unwritten) keep(ctx context.Context, s *Settling, why error) {
	a := u.admission
	s.settle.again = true
	if s.ticket.settled.Store(true); u.add(s) {
		a.log.Error("an outcome could not be put on record: the proxy keeps it and tries again until it can", "tool", s.ticket.tool,
			"session", s.ticket.key.Session, "call", s.ticket.Number, "outcome", s.settle.end.Outcome.String(), "error", why)
		return
	}
	s.ticket.settled.Store(false)
	a.log.Error("the outcome stays unknown: too many outcomes wait to be put on record", "tool", s.ticket.tool, "call", s.ticket.Number, "error", why)
	if s.settle.end.Outcome != gate.Unknown {
		a.Abandon(ctx, s.ticket)
	}
}

// catchUp writes the ends that the ledger could not take before, if it is ready now. Call it before
// reading or changing a state.
func (u *Unwritten) catchUp(ctx context.Context) {
	a := u.admission
	if u.count.Load() == 0 || a.ledger.Ready() != nil {
		return
	}
	u.turn.Lock()
	defer u.turn.Unlock()
	ctx = context.WithoutCancel(ctx)
	written := map[*Settling]bool{}
	for _, s := range u.all() {
		if now := a.now(); now.Before(s.retry) {
			continue
		}
		err := Update(ctx, a.ledger, s.ticket.key, s.run)
		if err != nil && !errors.Is(err, ErrNoSession) {
			if a.ledger.Ready() != nil {
				break // it is away again
			}
			s.retry = a.now().Add(retryAfter)
			continue
		}
		written[s] = true
		a.log.Info("an outcome is on record now", "tool", s.ticket.tool, "session", s.ticket.key.Session, "call", s.ticket.Number)
	}
	u.drop(written)
}

// Run writes ends that the ledger did not take as soon as it takes them, until ctx ends.
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

// An UnwrittenEnd is a call that has ended, whose outcome is not on record because the ledger
// did not take it yet. As long as this process lives it tries again.
type UnwrittenEnd struct {
	Key
	Call    uint64
	Tool    string
	Since   time.Time
	Outcome string
}

// List lists the calls whose ends the ledger did not take yet, the oldest first.
func (u *Unwritten) List() []UnwrittenEnd {
	if u.count.Load() == 0 {
		return nil
	}
	var list []UnwrittenEnd
	for _, s := range u.all() {
		t := s.ticket
		list = append(list, UnwrittenEnd{t.key, t.Number, t.tool, t.since, s.settle.end.Outcome.String()})
	}
	return list
}

// has reports whether the end of the call waits to be written.
func (u *Unwritten) has(session string, call uint64) bool {
	return slices.ContainsFunc(u.List(), func(e UnwrittenEnd) bool { return e.Session == session && e.Call == call })
}
