package journal

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// sample returns a step of a session that writes a part of 300 bytes and a record of 420 bytes.
func sample(session string, version int64) *backend.Op {
	at := time.Now()
	return &backend.Op{Session: session, Reserve: true, Lasts: true, Time: at,
		Writes: []backend.Write{{ID: backend.PartID{Scope: backend.Session, Name: session}, Version: version, Data: filled(300)}},
		Events: []backend.Event{{Time: at, Session: session, Object: filled(420)}},
	}
}

// filled returns a JSON object of the given length.
func filled(n int) []byte {
	return append(append([]byte(`{"x":"`), bytes.Repeat([]byte{'x'}, n-8)...), `"}`...)
}

// commit commits ops, and flushes those that need it.
func commit(ctx context.Context, b *Backend, ops ...*backend.Op) error {
	err := b.Commit(ctx, ops)
	for _, op := range ops {
		if err = errors.Join(err, op.Err); op.Flush != nil {
			err = errors.Join(err, op.Flush())
		}
	}
	return err
}
