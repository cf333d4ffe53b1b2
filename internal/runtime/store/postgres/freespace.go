package postgres

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
)

// freeSpace tracks whether the database's disk is full. A full disk does not block calls, because
// an op smaller than the one that failed may still fit. However, [DB.Ready] returns an error until
// there is enough space for the largest op that failed.
type freeSpace struct {
	needed atomic.Int64 // size in bytes of the largest op that did not fit, or 0 if the disk is not known to be full
	trial  sync.Mutex   // held while free space is tested
}

// overhead is the space, in bytes, that an op may need in addition to its data.
const overhead = 64 << 10

// diskFull reports whether the server has answered that its disk is full.
func diskFull(err error) bool {
	return isDefinite(err) && sqlState(err) == "53100"
}

// noteFull records that n bytes did not fit on the disk. The method check then tests whether the
// disk has space for at least n bytes.
func (r *freeSpace) noteFull(n int) {
	for {
		most := r.needed.Load()
		if most >= int64(n) || r.needed.CompareAndSwap(most, int64(n)) {
			return
		}
	}
}

// check returns an error if the disk still lacks space for the largest op that did not fit. To find
// out, it writes that much data to a new table, and rolls back. The rollback frees the space. In an
// existing table, the space would stay in use until a vacuum. If the database user lacks the
// privilege to create tables, check assumes that there is enough space.
func (r *freeSpace) check(ctx context.Context, w *writer) error {
	if r.needed.Load() == 0 {
		return nil
	}
	r.trial.Lock()
	defer r.trial.Unlock()
	lacking := int(r.needed.Load())
	if lacking == 0 {
		return nil // another call has found enough space in the meantime
	}
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	data := make([]byte, lacking+overhead)
	_, _ = rand.Read(data) // random, because PostgreSQL would compress zeros
	table := "petrigate_trial_" + w.name
	if _, err = tx.Exec(ctx, "CREATE TABLE "+table+" (data bytea)"); err == nil {
		_, err = tx.Exec(ctx, "INSERT INTO "+table+" VALUES ($1)", data)
	}
	if err != nil && sqlState(err) != "42501" {
		return err
	}
	r.needed.CompareAndSwap(int64(lacking), 0)
	return nil
}
