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

// roundKeyID names the part that stores the key for the request states that clients carry from one
// round trip of a call to the next. All processes of the database share the key.
var roundKeyID = backend.PartID{Scope: "key", Name: "rounds"}

// roundKeySize is the size of the key in bytes.
const roundKeySize = 32

// RoundKey returns the key that the processes of the database share. The first process that needs
// the key creates it.
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
		if err := d.putPart(ctx, &parts[0], data); err != nil && (!errors.Is(err, admission.ErrStale) || ctx.Err() != nil) {
			return nil, err
		}
	}
}

// readRoundKey decodes the key. Its error must not contain the data: it is secret.
func readRoundKey(data []byte) (key []byte, err error) {
	if json.Unmarshal(data, &key) != nil || len(key) != roundKeySize {
		return nil, fmt.Errorf("the round key in the state database is damaged: remove the part %s %s, and petrigate creates a new key", roundKeyID.Scope, roundKeyID.Name)
	}
	return key, nil
}
