package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// The number of questions that a system is told of at a time: one user's do not keep out
// those of others.
const (
	most      = 1000
	mostOfOne = 200
)

// A question is one that the system is to know of.
type question struct {
	id, principal string
	expires       time.Time
	tried         bool            // the system may know of it; of the goroutine that follows it
	ctx           context.Context //nolint:containedctx // ends with the question
	end           context.CancelFunc
}

// questions are those that wait for an answer.
type questions struct {
	mu     sync.Mutex
	open   map[string]*question
	of     map[string]int // by principal
	full   bool           // it is in the log that there are too many
	closed bool
}

func newQuestions() *questions {
	return &questions{open: map[string]*question{}, of: map[string]int{}}
}

// add takes a question, and counts it as work; nil: it cannot. first says that this has to be
// said.
func (s *questions) add(ctx context.Context, work *sync.WaitGroup, a operator.ApprovalInfo) (q *question, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || s.open[a.ID] != nil:
		return nil, false
	case len(s.open) >= most || s.of[a.Principal] >= mostOfOne:
		first, s.full = !s.full, true
		return nil, first
	}
	q = &question{id: a.ID, principal: a.Principal, expires: a.Expires}
	q.ctx, q.end = context.WithCancel(ctx)
	s.open[q.id] = q
	s.of[q.principal]++
	work.Add(1)
	return q, false
}

// remove forgets a question.
func (s *questions) remove(q *question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.end()
	delete(s.open, q.id)
	if s.of[q.principal]--; s.of[q.principal] == 0 {
		delete(s.of, q.principal)
	}
	s.full = s.full && len(s.open) > most/4
}

// endOver ends the questions that are over, and returns when the next one expires; zero:
// there is none.
func (s *questions) endOver(over func(id string) bool) (next time.Time) {
	for _, q := range s.waiting() {
		if over(q.id) {
			q.end()
			continue
		}
		if next.IsZero() || q.expires.Before(next) {
			next = q.expires
		}
	}
	return next
}

// waiting returns the questions that have not ended.
func (s *questions) waiting() (all []*question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.open {
		if q.ctx.Err() == nil {
			all = append(all, q)
		}
	}
	return all
}

func (s *questions) count() int { return len(s.waiting()) }

// close takes no more questions.
func (s *questions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
