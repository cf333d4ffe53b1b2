// Package postgres stores session states, records, approvals, stops and pinned tool definitions in
// PostgreSQL 13 or later, which many processes can share. It implements [backend.Backend] and
// [backend.Pins].
//
// A commit takes one round trip (see [DB.Commit]): the function petrigate_commit compares versions
// and writes everything in one transaction. Each process is a writer with its own chain of records.
// The writer's row contains a commit count and a fencing token, so PostgreSQL refuses a commit that
// was sent twice or that arrives after the process has given up on it. If a connection breaks
// during a commit, petrigate_resume returns whether the commit took effect.
//
// Main types: [DB] is the backend, writer commits, batch encodes ops, health tracks whether the
// database is available, listener waits for changes by other processes, freshParts tracks which
// parts can be trusted after a server crash, and loadQueue batches concurrent loads.
//
// Concurrency: only one goroutine at a time uses the writer. The mutexes of health, freshParts and
// loadQueue are held only briefly and never together. Two goroutines run until Close: one listens
// for changes by other processes, the other probes the database while it is unavailable. While
// loads are queued, a third goroutine answers them.
package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Options configures a [DB]. DSN is required.
type Options struct {
	DSN     string        // URL or keywords; missing settings are taken from PGHOST, PGPASSWORD and so on
	NoSync  bool          // if true, no commit waits for the disk, not even one that admits a call
	Timeout time.Duration // timeout for each commit and for each page that is read; defaults to five seconds
	Poll    time.Duration // interval between polls for changes made by other processes; defaults to one second
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

	stop       context.CancelFunc
	background sync.WaitGroup // the goroutines that run until Close
}

var _ backend.Backend = (*DB)(nil)

// Merges implements [backend.Backend]. It returns false: a write must contain the whole data of a
// part of the state, not only the changes.
func (d *DB) Merges() bool { return false }

// Writer implements [backend.Backend].
func (d *DB) Writer() string { return d.writer.name }

// Changes implements [backend.Backend].
func (d *DB) Changes() <-chan struct{} { return d.listener.changes }

// notify wakes the other processes after a change to approvals or stops. The notification is not
// part of the transaction, because a transaction that notifies holds a server-wide lock while it
// commits. If notify fails, the other processes find the change by polling.
func (d *DB) notify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	_, _ = d.pool.Exec(ctx, notifySQL)
	d.listener.wake()
}

// wrap annotates err with the operation, the database, and advice for the operator.
func (d *DB) wrap(doing string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, d.name, explain(err))
}
