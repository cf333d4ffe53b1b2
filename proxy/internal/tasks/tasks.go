// Package tasks follows the tasks that servers create for calls (tasks/get, tasks/result,
// tasks/cancel, tasks/list, notifications/tasks/status), in the forms of both revision families.
// See SEP-1686 and SEP-2663.
//
// [Tasks] is the table of all tasks and serves clients' requests about them; a [Task] is one of
// these tasks. The proxy assigns its own ID to each task, and replaces the IDs in both directions.
// If client and server use different revision families, the proxy emulates the form that the client
// expects (emulate.go).
//
// # Goroutines
//
// Each task has a goroutine that polls it until it ends, no matter what its client does. A task
// emulated for a client of revision 2026-07-28 has another goroutine, which waits for tasks/result.
// Both end with the task or with the proxy.
//
// # Locks
//
// Task.settling is held while the outcome is being recorded, so that it is recorded only once.
// Task.mu guards the changing state of a task, and taskTable.mu guards the table. taskTable.mu must
// not be locked while Task.mu is held.
//
// # Invariants
//
// A task is settled at the gate only once, and the gate learns how a task ended before any client
// does. A known outcome can replace an unknown one, but not the other way around. A client can
// access only the tasks of its own session.
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
// revision 2025-11-25, the client asks for a task (params.task) and fetches its result with
// tasks/result. In the extension io.modelcontextprotocol/tasks of revision 2026-07-28, the server
// may create a task for any client that supports tasks, and puts the result into the task. Tasks is
// safe for concurrent use.
type Tasks struct {
	taskTable
	Options
}

// Options contains the parts of the proxy that [Tasks] uses.
type Options struct {
	Life     *lifetime.Lifetime
	Now      func() time.Time
	Log      *slog.Logger
	Append   func(e audit.Event) error // appends an event to the audit log
	Servers  func() []*pool.Server     // shared connections to the servers
	Sessions *session.Sessions

	// Settle records the outcome of a call that has become a task, and updates the nets. If the
	// task succeeded, result is the task's result.
	Settle func(of Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string)
	// Ask sends a server's request to a client, and returns the client's answer to the server.
	Ask func(c *session.Client, s spec.Stream, u *pool.Server, q *upstream.ServerRequest)
}

// New returns a Tasks that does not follow any tasks yet.
func New(o Options) *Tasks { return &Tasks{Options: o} }
