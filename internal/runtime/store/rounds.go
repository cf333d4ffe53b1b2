package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// roundScope is the scope of each [backend.Part] that stores a call between two round trips with
// the client, so that the client can continue the call through any process.
const roundScope backend.Scope = "round"

// KeepRound stores the data that a call needs for its next round trip with the client. The ID must
// be impossible to guess.
func (d *Durable) KeepRound(ctx context.Context, id string, data []byte) error {
	err := d.write(newRow(&backend.Part{ID: backend.PartID{Scope: roundScope, Name: id}}), data).Wait(ctx)
	if !errors.Is(err, admission.ErrStale) {
		return err
	}
	parts, err := d.database.Load(ctx, backend.PartID{Scope: roundScope, Name: id})
	if err == nil && parts[0].Version == 0 { // the data is not stored, so the write was not committed
		err = admission.ErrStale
	}
	return err
}

// TakeRound removes and returns the data that [Durable.KeepRound] stored under the ID, so that the
// caller can continue the call. It returns nil if nothing is stored. Only one caller gets the data,
// and only once, even after a database crash. TakeRound returns [admission.ErrStopped] while the
// session is stopped.
func (d *Durable) TakeRound(ctx context.Context, session, id string) ([]byte, error) {
	return d.takeRound(ctx, id, func(o *backend.Op) { o.Session, o.Reserve, o.Lasts = session, true, true })
}

// DropRound is like TakeRound, but works even while the session is stopped. It does not wait until
// the removal is on disk, so a power loss or a crash of the database may bring the data back.
// DropRound is for callers that end the call instead of continuing it.
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
		s := d.newQueued(admission.Key{})
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

// KeptRounds returns an iterator over the IDs and data of the stored calls. The iterator stops
// early if the database cannot be read.
func (d *Durable) KeptRounds(ctx context.Context) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for p, err := range d.database.List(ctx, roundScope, "") {
			if err != nil || !yield(p.ID.Name, p.Data) {
				return
			}
		}
	}
}

// roundKeyID identifies the [backend.Part] that stores the key returned by [Durable.RoundKey].
var roundKeyID = backend.PartID{Scope: "key", Name: "rounds"}

// roundKeySize is the size of the key in bytes.
const roundKeySize = 32

// RoundKey returns the key for encrypting the state that a client keeps between two round trips of
// a call. All processes that use the database share the key. RoundKey creates it if it does not
// exist yet.
func (d *Durable) RoundKey(ctx context.Context) ([]byte, error) {
	for {
		parts, err := d.database.Load(ctx, roundKeyID)
		if err != nil {
			return nil, err
		}
		if parts[0].Version > 0 {
			return readRoundKey(parts[0].Data)
		}
		key := make([]byte, roundKeySize)
		_, _ = rand.Read(key) // rand.Read never returns an error
		data, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		if err := d.write(newRow(&parts[0]), data).Wait(ctx); err != nil && (!errors.Is(err, admission.ErrStale) || ctx.Err() != nil) {
			return nil, err
		}
	}
}

// readRoundKey decodes the key. The error must not contain the data, which is secret.
func readRoundKey(data []byte) (key []byte, err error) {
	if json.Unmarshal(data, &key) != nil || len(key) != roundKeySize {
		return nil, fmt.Errorf("the round key in the state database is damaged: remove the part %s %s, and petrigate creates a new key", roundKeyID.Scope, roundKeyID.Name)
	}
	return key, nil
}
