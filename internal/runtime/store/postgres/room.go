package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// A room is what is known of the room on the disk of the database. Where there was none for
// a decision there may be some for smaller ones, so calls go on being tried; but the database
// is not ready before it has room for such a decision again.
type room struct {
	lacking atomic.Int64 // bytes of the largest op for which there was no room; 0: there was room
	trial   sync.Mutex   // of one trial
}

// overhead is how many bytes a decision may write besides its data.
const overhead = 64 << 10

// full reports whether the server has said that its disk is full, and goes on.
func full(err error) bool {
	var p *pgconn.PgError
	return definite(err) && errors.As(err, &p) && p.Code == "53100"
}

// lacked notes that there was no room for n bytes.
func (r *room) lacked(n int) {
	for {
		most := r.lacking.Load()
		if most >= int64(n) || r.lacking.CompareAndSwap(most, int64(n)) {
			return
		}
	}
}

// ready reports why there is no room where there was none. It writes as much into a table of
// its own and rolls that back, which gives the room back at once: rows of a transaction that
// failed would stay in the other tables until they are vacuumed. A user who may create no
// table hears it from the next decision.
func (r *room) ready(ctx context.Context, w *writer) error {
	if r.lacking.Load() == 0 {
		return nil
	}
	r.trial.Lock()
	defer r.trial.Unlock()
	lacking := int(r.lacking.Load())
	if lacking == 0 {
		return nil // another trial has found it
	}
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	data := make([]byte, lacking+overhead)
	_, _ = rand.Read(data) // of zeros PostgreSQL would keep little
	table := "petrigate_trial_" + w.name
	if _, err = tx.Exec(ctx, "CREATE TABLE "+table+" (data bytea)"); err == nil {
		_, err = tx.Exec(ctx, "INSERT INTO "+table+" VALUES ($1)", data)
	}
	var p *pgconn.PgError
	if err != nil && !(errors.As(err, &p) && p.Code == "42501") {
		return err
	}
	r.lacking.CompareAndSwap(int64(lacking), 0)
	return nil
}
