package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// Limits on the number of tracked approvals. The limit per principal keeps one user from filling
// the tracker.
const (
	maxTracked      = 1000
	maxPerPrincipal = 200
)

// A trackedApproval is an open approval that is being posted to the operator's system.
type trackedApproval struct {
	id, principal string
	expires       time.Time
	tried         bool            // whether an attempt was made to post the approval; used only by the approval's goroutine
	ctx           context.Context //nolint:containedctx // done when the approval is no longer open
	end           context.CancelFunc
}

// A tracker holds the open approvals that are being posted to the operator's system.
type tracker struct {
	mu           sync.Mutex
	open         map[string]*trackedApproval
	perPrincipal map[string]int // number of tracked approvals of each principal
	full         bool           // whether add has already reported that a limit is reached
	closed       bool
}

func newTracker() *tracker {
	return &tracker{open: map[string]*trackedApproval{}, perPrincipal: map[string]int{}}
}

// add starts tracking an approval and adds one to the wait group. The caller must then start the
// goroutine that posts the approval. If the tracker is closed, already tracks the approval, or has
// reached a limit, add has no effect and returns nil. The second result reports whether the caller
// must log that a limit is reached. After it has been true, it stays false until a removal leaves
// at most maxTracked/4 approvals.
func (s *tracker) add(ctx context.Context, work *sync.WaitGroup, a operator.ApprovalInfo) (q *trackedApproval, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || s.open[a.ID] != nil:
		return nil, false
	case len(s.open) >= maxTracked || s.perPrincipal[a.Principal] >= maxPerPrincipal:
		first, s.full = !s.full, true
		return nil, first
	}
	q = &trackedApproval{id: a.ID, principal: a.Principal, expires: a.Expires}
	q.ctx, q.end = context.WithCancel(ctx)
	s.open[q.id] = q
	s.perPrincipal[q.principal]++
	work.Add(1)
	return q, false
}

// remove stops tracking an approval.
func (s *tracker) remove(q *trackedApproval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.end()
	delete(s.open, q.id)
	if s.perPrincipal[q.principal]--; s.perPrincipal[q.principal] == 0 {
		delete(s.perPrincipal, q.principal)
	}
	s.full = s.full && len(s.open) > maxTracked/4
}

// endFinished cancels the context of each tracked approval that has ended, as reported by hasEnded.
// It returns the time when the next tracked approval expires, or the zero time if none are left.
func (s *tracker) endFinished(hasEnded func(id string) bool) (next time.Time) {
	for _, q := range s.openApprovals() {
		if hasEnded(q.id) {
			q.end()
			continue
		}
		if next.IsZero() || q.expires.Before(next) {
			next = q.expires
		}
	}
	return next
}

func (s *tracker) openApprovals() (all []*trackedApproval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.open {
		if q.ctx.Err() == nil {
			all = append(all, q)
		}
	}
	return all
}

func (s *tracker) count() int { return len(s.openApprovals()) }

// close makes the tracker reject new approvals.
func (s *tracker) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
