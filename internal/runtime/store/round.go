package store

import (
	"context"
	"errors"
	"iter"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// roundScope is the scope of the parts that store calls between two round trips. The client may
// continue such a call at any process.
const roundScope backend.Scope = "round"

// KeepRound stores what a call needs for its next round trip. The id must be impossible to guess.
func (d *Durable) KeepRound(ctx context.Context, id string, data []byte) error {
	err := d.putPart(ctx, &backend.Part{ID: backend.PartID{Scope: roundScope, Name: id}}, data)
	if !errors.Is(err, admission.ErrStale) {
		return err
	}
	parts, err := d.database.Load(ctx, backend.PartID{Scope: roundScope, Name: id})
	if err == nil && parts[0].Version == 0 { // the outcome was uncertain, and nothing was committed
		err = admission.ErrStale
	}
	return err
}

// TakeRound removes and returns the data stored under the id; nil: nothing is stored. Of several
// callers only one gets the data, and never twice, not even after a crash of the database. Taking
// the data continues the session, so the error is [admission.ErrStopped] while the session is
// stopped.
func (d *Durable) TakeRound(ctx context.Context, session, id string) ([]byte, error) {
	return d.takeRound(ctx, id, func(o *backend.Op) { o.Session, o.Reserve, o.Lasts = session, true, true })
}

// DropRound is TakeRound for a caller that ends the call. It also works while the session is
// stopped.
func (d *Durable) DropRound(ctx context.Context, id string) ([]byte, error) {
	return d.takeRound(ctx, id, func(*backend.Op) {})
}

func (d *Durable) takeRound(ctx context.Context, id string, how func(*backend.Op)) ([]byte, error) {
	for {
		parts, err := d.database.Load(ctx, backend.PartID{Scope: roundScope, Name: id})
		if err != nil || parts[0].Version == 0 {
			return nil, err
		}
		p := &parts[0]
		s := d.newQueued(&entry{}, nil)
		how(&s.op)
		s.addWrite(newRow(p), backend.Write{ID: p.ID, Version: p.Version})
		switch err := d.enqueue(s).Wait(ctx); {
		case err == nil:
			return p.Data, nil
		case !errors.Is(err, admission.ErrStale) || ctx.Err() != nil:
			return nil, err
		}
	}
}

// KeptRounds returns the stored data by id. It ends without an error if the database cannot be
// read.
func (d *Durable) KeptRounds(ctx context.Context) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for p, err := range d.database.List(ctx, roundScope) {
			if err != nil || !yield(p.ID.Name, p.Data) {
				return
			}
		}
	}
}
