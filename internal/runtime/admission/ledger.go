package admission

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Ledger stores the nets' states and the record of decisions. It is safe for concurrent use. A step
// is first staged, which changes the states that this process sees. It is then committed: either
// the whole step becomes durable, or nothing of it does. Steps are committed in staging order, many
// of them together. If Stage or [Commit.Wait] returns an error, the step and all steps staged on
// top of it have no effect.
//
// All states in a ledger belong to one policy, which [Ledger.Adopt] replaces.
type Ledger interface {
	// Open begins a session with its nets in their initial states and their clocks starting at
	// s.Since. An existing session continues.
	Open(ctx context.Context, s SessionInfo) error

	// Find returns the description of a session in any process. If the session does not exist, the
	// error is [ErrNoSession].
	Find(ctx context.Context, session string) (SessionInfo, error)

	// Touch sets [SessionInfo.Used] for a session that outlives this process.
	Touch(ctx context.Context, k Key, now time.Time) error

	// End ends a session. The session is forgotten once none of its calls is open or waits for
	// approval.
	End(ctx context.Context, k Key) error

	// Stage runs f on the newest state of the session and its shared nets, and applies the change
	// to the state that later steps see. The caller must wait for the commit exactly once, and must
	// not act on the step before that; a nil commit needs no wait. If another process changed the
	// state first, f runs again on a newer state. Therefore f must have no side effects, must not
	// keep the state, and must not block. An error from f is returned unchanged. The queue of
	// staged steps is bounded, so Stage may block.
	Stage(ctx context.Context, k Key, f func(*gate.State) (Change, error)) (Commit, error)

	// View runs f on the newest state. f must not change or keep the state. If k has no session,
	// the state is that of a new session of the principal.
	View(ctx context.Context, k Key, f func(*gate.State)) error

	// Append stages events that do not change any net's state.
	Append(ctx context.Context, events ...audit.Event) (Commit, error)

	// Sessions lists the open sessions of all processes, and the ended sessions with open calls.
	Sessions(ctx context.Context) iter.Seq2[SessionInfo, error]

	// Adopt puts another policy in force, and reports the effect on each session's nets. If the
	// error is [ErrHeld], the report is the same but nothing has changed.
	Adopt(ctx context.Context, a Adoption) ([]Adopted, error)

	// Records reports whether the ledger records events. If it does not, callers need not create
	// events.
	Records() bool

	// Ready returns the reason why nothing can be made durable at the moment, as far as is known,
	// or nil.
	Ready() error
}

// Commit is a staged step that is not known to be durable yet.
type Commit interface {
	// Wait returns nil once the step is durable. The first waiting goroutine commits all staged
	// steps. If Wait returns an error, the step has been undone. If the error is [ErrStale],
	// another process changed the state first, and the step may be staged again.
	Wait(ctx context.Context) error
}

// wait waits for a commit. The commit may be nil.
func wait(ctx context.Context, c Commit) error {
	if c == nil {
		return nil
	}
	return c.Wait(ctx)
}

// Update stages a step, waits for its commit, and retries for as long as other processes change the
// state first. f is described at [Ledger.Stage].
func Update(ctx context.Context, l Ledger, k Key, f func(*gate.State) (Change, error)) error {
	return commit(ctx, func() (Commit, error) { return l.Stage(ctx, k, f) })
}

// commit stages a step and waits for it. It retries while the step is stale.
func commit(ctx context.Context, stage func() (Commit, error)) error {
	for {
		c, err := stage()
		if err == nil {
			err = wait(ctx, c)
		}
		if !errors.Is(err, ErrStale) || ctx.Err() != nil {
			return err
		}
	}
}

// Key identifies a session and its principal.
type Key struct{ Session, Principal string }

// Change is the effect of one step. All parts of a change are committed together.
type Change struct {
	Delta  *gate.Delta   // nil: no net changes
	Uses   string        // ID of the approval that the step uses up; if another step has used it up, the error is approval.ErrUsed
	Events []audit.Event // events to record with the step

	// Admits marks an admission. An admission is on disk when its Wait returns, and its error is
	// [ErrStopped] while the session is stopped.
	Admits bool
}

// SessionInfo describes a session of a [Ledger].
type SessionInfo struct {
	Key
	Since time.Time

	// Lasting marks a session that continues after the process has ended, if the ledger does.
	// Another process may open such a session later or at the same time. Other sessions end with
	// their process.
	Lasting bool

	// About describes the session for other processes. It is one JSON object that [Ledger.Open]
	// stores; nil: none.
	About []byte

	// Set by a ledger that several processes share.
	Open    int // number of open calls
	Calls   []OpenCall
	Used    time.Time // time of the last change or touch
	Ended   bool      // the session is kept for its open calls
	Process string    // another process that owns the session; empty: this process or none
	Gone    bool      // the process in Owner has ended, and the session is kept for its open calls
}

// OpenCall is an admitted, unsettled call of a session.
type OpenCall struct {
	Number  uint64
	Tool    string
	Since   time.Time
	Unknown bool   // the outcome was reported as unknown, or the call's process has ended
	More    uint64 // see the fields of [gate.OpenCall]
}

// Adoption describes the conversion of all states in a ledger to another policy; see
// [gate.Policy.Adopt].
type Adoption struct {
	Policy *gate.Policy
	Active []string      // nets active from now on; nil: all
	Reset  []string      // nets to reset to their initial states
	Time   time.Time     // current time
	Events []audit.Event // events to record with the adoption
	Try    bool          // report the effect without changing anything
}

// Adopted is an adoption's effect on the nets of one session. If only the principal is set, Adopted
// describes the nets that the principal's sessions share. If neither is set, it describes the
// global nets.
type Adopted struct {
	Key
	Nets []gate.Kept
}

// Held reports whether any net is held; see [ErrHeld].
func (a Adopted) Held() bool {
	return slices.ContainsFunc(a.Nets, func(k gate.Kept) bool { return k.Fate == gate.Held })
}

// Errors of a [Ledger].
var (
	ErrNoSession = errors.New("the session has ended") // the session has ended or was never opened
	ErrStale     = backend.ErrStale                    // error from [Commit.Wait]

	// ErrHeld is the error of [Ledger.Adopt] if a hand-written net has changed in the policy and
	// either is not in its initial state or has calls in flight.
	ErrHeld = errors.New("a changed net is not in its initial state or has calls in flight")
)
