package draft

import (
	"context"
	"sync"
)

// turns let everybody do one thing at a time, and all together a few.
type turns struct {
	all chan struct{} // has an element for each thing that is done

	mu    sync.Mutex
	seats map[string]*seat
}

// A seat is that of one person, who has it or waits for it.
type seat struct {
	taken chan struct{} // has an element while something is done
	users int
}

func newTurns(most int) *turns {
	return &turns{all: make(chan struct{}, most), seats: map[string]*seat{}}
}

// take waits for the turn.
func (t *turns) take(ctx context.Context, who string) (release func(), err error) {
	s := t.sit(who)
	select {
	case s.taken <- struct{}{}:
	case <-ctx.Done():
		t.leave(who)
		return nil, ctx.Err()
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-s.taken
		t.leave(who)
		return nil, ctx.Err()
	}
	return func() {
		<-t.all
		<-s.taken
		t.leave(who)
	}, nil
}

func (t *turns) sit(who string) *seat {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.seats[who]
	if s == nil {
		s = &seat{taken: make(chan struct{}, 1)}
		t.seats[who] = s
	}
	s.users++
	return s
}

func (t *turns) leave(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seats[who].users--; t.seats[who].users == 0 {
		delete(t.seats, who)
	}
}

// try takes the turn if nobody has it.
func (t *turns) try(context.Context) (release func(), err error) {
	select {
	case t.all <- struct{}{}:
		return func() { <-t.all }, nil
	default:
		return nil, ErrBusy
	}
}
