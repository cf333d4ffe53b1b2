// Package postgres stores the states of sessions, records, approvals, stops and pinned tool
// definitions in PostgreSQL 13 or later, which many processes share. It implements
// [backend.Backend] and [backend.Pins].
//
// A commit is one round trip, see [DB.Commit]: the function petrigate_commit compares versions and
// writes everything in one transaction. Each process is a writer with its own chain of records. The
// row of the writer has the number of its commits and a fencing token, so a commit that was sent
// twice, or arrives after the process has given it up, is refused. If a connection breaks during a
// commit, petrigate_resume returns whether the commit took effect.
//
// Main types: [DB] is the backend, writer commits, batch encodes ops, health tracks whether the
// database is available, listener waits for changes of other processes, freshParts tracks which
// parts can be trusted after a crash of the server, and loadQueue joins concurrent loads.
//
// Concurrency: one goroutine at a time has the writer. The mutexes of health, freshParts and
// loadQueue are held only for a moment and never together. Two goroutines run until Close: one
// listens for changes of other processes, the other one probes the database while it is
// unavailable. While the loadQueue has calls, another goroutine answers them.
package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Options configures a [DB]. DSN is required.
type Options struct {
	DSN     string        // URL or keywords; missing settings come from PGHOST, PGPASSWORD and so on
	NoSync  bool          // even commits with reservations do not wait for the disk
	Timeout time.Duration // limit for each commit and for each read of a page; 0: five seconds
	Poll    time.Duration // interval for polling changes of other processes; 0: one second
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	name     string // description of the database for messages, without secrets
	timeout  time.Duration
	pool     *pgxpool.Pool
	writer   *writer
	fresh    *freshParts
	loads    loadQueue
	health   *health
	space    freeSpace
	listener *listener

	stop    context.CancelFunc
	stopped chan struct{}
}

var _ backend.Backend = (*DB)(nil)

// Merges implements [backend.Backend]. It returns false: a row contains the whole part.
func (d *DB) Merges() bool { return false }

// Writer implements [backend.Backend].
func (d *DB) Writer() string { return d.writer.name }

// Changes implements [backend.Backend].
func (d *DB) Changes() <-chan struct{} { return d.listener.changes }

// notify wakes the other processes after a change of approvals or stops. It is not part of the
// transaction, since a transaction that notifies holds a lock of the whole server while it commits.
// If it fails, the other processes find the change by polling.
func (d *DB) notify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	_, _ = d.pool.Exec(ctx, notifySQL)
	d.listener.wake()
}

// wrap adds to err the operation, the database and advice, for an operator.
func (d *DB) wrap(doing string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, d.name, explain(err))
}
