package store

import (
	"context"
	"errors"
	"iter"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// rounds is the scope of the parts that keep calls between two rounds, which the client may
// go on with at any process.
const rounds backend.Scope = "round"

// KeepRound keeps what a call needs for its next round, under an id that nobody can guess.
func (d *Durable) KeepRound(ctx context.Context, id string, data []byte) error {
	err := d.put(ctx, &backend.Part{ID: backend.PartID{Scope: rounds, Name: id}}, data)
	if !errors.Is(err, admission.ErrStale) {
		return err
	}
	parts, err := d.database.Load(ctx, backend.PartID{Scope: rounds, Name: id})
	if err == nil && parts[0].Version == 0 { // it was in doubt, and was not committed
		err = admission.ErrStale
	}
	return err
}

// TakeRound returns what is kept under the id, to one of all that ask for it: nobody gets
// it again, not even after a crash of the database. Nil: nothing is kept. The session goes on
// by it: the error is [admission.ErrStopped] while it is stopped.
func (d *Durable) TakeRound(ctx context.Context, session, id string) ([]byte, error) {
	return d.takeRound(ctx, id, func(o *backend.Op) { o.Session, o.Reserve, o.Lasts = session, true, true })
}

// DropRound is TakeRound of whoever ends the call: it is possible while the session is stopped.
func (d *Durable) DropRound(ctx context.Context, id string) ([]byte, error) {
	return d.takeRound(ctx, id, func(*backend.Op) {})
}

func (d *Durable) takeRound(ctx context.Context, id string, how func(*backend.Op)) ([]byte, error) {
	for {
		parts, err := d.database.Load(ctx, backend.PartID{Scope: rounds, Name: id})
		if err != nil || parts[0].Version == 0 {
			return nil, err
		}
		p := &parts[0]
		s := d.newQueued(&entry{}, nil)
		how(&s.op)
		s.writes(newRow(p), backend.Write{ID: p.ID, Version: p.Version})
		switch err := d.enqueue(s).Wait(ctx); {
		case err == nil:
			return p.Data, nil
		case !errors.Is(err, admission.ErrStale) || ctx.Err() != nil:
			return nil, err
		}
	}
}

// KeptRounds is all that is kept, by id, as far as it can be read.
func (d *Durable) KeptRounds(ctx context.Context) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for p, err := range d.database.List(ctx, rounds) {
			if err != nil || !yield(p.ID.Name, p.Data) {
				return
			}
		}
	}
}
