package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// roundKeys is the part with the key of what clients carry from one round of a call to the
// next. All processes of the database have it.
var roundKeys = backend.PartID{Scope: "key", Name: "rounds"}

// roundKeySize is the size of the key.
const roundKeySize = 32

// RoundKey reads the key that the processes of the database share. The first process that
// asks for it makes it.
func (d *Durable) RoundKey(ctx context.Context) ([]byte, error) {
	for {
		parts, err := d.database.Load(ctx, roundKeys)
		if err != nil {
			return nil, err
		}
		if parts[0].Version > 0 {
			return readRoundKey(parts[0].Data)
		}
		key := make([]byte, roundKeySize)
		_, _ = rand.Read(key) // it never fails
		data, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		if err := d.put(ctx, &parts[0], data); err != nil && (!errors.Is(err, admission.ErrStale) || ctx.Err() != nil) {
			return nil, err
		}
	}
}

// readRoundKey reads the key. Its error does not say what it has read.
func readRoundKey(data []byte) (key []byte, err error) {
	if json.Unmarshal(data, &key) != nil || len(key) != roundKeySize {
		return nil, fmt.Errorf("the key of rounds in the state database is not as it was written: remove the part %s %s, and another one is made", roundKeys.Scope, roundKeys.Name)
	}
	return key, nil
}

// put replaces a part, or removes it where data is nil. Its error is [admission.ErrStale]
// where another process was faster.
func (d *Durable) put(ctx context.Context, p *backend.Part, data []byte) error {
	s := d.newQueued(&entry{}, nil)
	s.writes(newRow(p), backend.Write{ID: p.ID, Version: p.Version, Data: data})
	return d.enqueue(s).Wait(ctx)
}
