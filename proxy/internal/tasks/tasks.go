// Package tasks follows the tasks that servers create for calls (tasks/get, tasks/result,
// tasks/cancel, tasks/list, notifications/tasks/status), in the forms of both families of
// revisions. See SEP-1686 and SEP-2663.
//
// [Tasks] is the table of all tasks and serves the requests of clients about them; a [Task] is one
// of them. The proxy gives each task an id of its own, and replaces the ids in both directions. If
// client and server speak different families of revisions, the proxy emulates the client's form
// (emulate.go).
//
// # Goroutines
//
// Each task has a goroutine that polls it to its end, whatever its client does. A task emulated for
// a client of 2026-07-28 has another one, which waits in tasks/result. Both end with the task or
// with the proxy.
//
// # Locks
//
// Task.settling is held while the outcome is recorded, so that it is recorded once. Task.mu guards
// the changing state of a task, and taskTable.mu the table. taskTable.mu is never taken while
// Task.mu is held.
//
// # Invariants
//
// A task is settled at the gate once, and the gate learns the end before any client does. An
// unknown outcome can be replaced by a known one, but not the other way around. A client can reach
// only the tasks of its own session.
package tasks

import (
	"log/slog"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Tasks follows the tasks that servers create for calls, in both forms (SEP-1686, SEP-2663). In
// 2025-11-25 the client asks for a task (params.task) and fetches its result with tasks/result. In
// the extension io.modelcontextprotocol/tasks of 2026-07-28 the server creates a task for any
// client that supports them, and puts the result into the task. Tasks is safe for concurrent use.
type Tasks struct {
	taskTable
	Options
}

// Options are the parts of the proxy that Tasks uses.
type Options struct {
	Life     *lifetime.Lifetime
	Now      func() time.Time
	Log      *slog.Logger
	Append   func(e audit.Event) error // appends an event to the audit log
	Servers  func() []*pool.Server     // shared connections to the servers
	Sessions *session.Sessions

	// Settle records the outcome of the call that became a task, and updates the nets. result is
	// that of a success.
	Settle func(of Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string)
	// Ask sends a server's request to a client, and the answer back to the server.
	Ask func(c *session.Client, s spec.Stream, u *pool.Server, q *upstream.ServerRequest)
}

// New returns Tasks without tasks.
func New(o Options) *Tasks { return &Tasks{Options: o} }
