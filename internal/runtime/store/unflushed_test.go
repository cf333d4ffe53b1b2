package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// pausing is a database whose flushes wait for the test.
type pausing struct {
	backend.Backend
	begun chan struct{}
	ends  chan error
}

func (p *pausing) Commit(ctx context.Context, ops []*backend.Op) error {
	err := p.Backend.Commit(ctx, ops)
	for _, op := range ops {
		if op.Reserve && op.Err == nil {
			op.Flush = func() error {
				p.begun <- struct{}{}
				return <-p.ends
			}
		}
	}
	return err
}

// TestOutcomeDuringFlush: a call is admitted only after its flush. An outcome does not wait for the
// flush of another call, and calls that arrive meanwhile have their own flushes.
func TestOutcomeDuringFlush(t *testing.T) {
	b := &pausing{database(t, place(t)), make(chan struct{}), make(chan error)}
	d := durable(t, b, policyOf(t, limit("all", 5, gate.ScopeGlobal)), nil)
	one, two := admission.Key{Session: "one"}, admission.Key{Session: "two"}
	begin(t, d, one)
	begin(t, d, two)
	type admitted struct {
		number uint64
		err    error
	}
	begins := func(k admission.Key) chan admitted {
		c := make(chan admitted, 1)
		go func() {
			number, err := admit(t.Context(), d, k, gate.Call{Tool: "all"})
			c <- admitted{number, err}
		}()
		<-b.begun
		return c
	}
	first := begins(one)
	b.ends <- nil
	got := <-first
	if got.err != nil || got.number == 0 {
		t.Fatal(got)
	}

	second := begins(two)
	if err := finish(t.Context(), d, one, got.number, gate.Success); err != nil { // during the flush
		t.Error(err)
	}
	third := begins(one) // begins during the flush too
	select {
	case got := <-second:
		t.Error("admitted before it is on the disk", got)
	default:
	}
	b.ends <- nil
	b.ends <- nil
	for _, c := range []chan admitted{second, third} {
		if got := <-c; got.err != nil || got.number == 0 {
			t.Error(got)
		}
	}

	lost := begins(two)
	b.ends <- backend.ErrUnflushed
	if got := <-lost; !errors.Is(got.err, backend.ErrUnflushed) {
		t.Error("a call whose reservation may be lost was admitted", got)
	}
	if err := d.View(t.Context(), two, func(s *gate.State) {
		if open := s.Open(); len(open) != 1 {
			t.Errorf("%d calls are open, want only that which was admitted", len(open))
		}
	}); err != nil {
		t.Error(err)
	}
}
