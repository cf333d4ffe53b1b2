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
// is first staged, which makes its changes visible within this process. It is then committed:
// either the whole step becomes durable, or none of it. Steps are committed in staging order, many
// at a time. If Stage or [Commit.Wait] returns an error, the step and all steps staged after it
// have no effect.
//
// All states in a ledger belong to one policy, which [Ledger.Adopt] replaces.
type Ledger interface {
	// Open starts a session, with the nets in their initial states and their clocks starting at
	// s.Since. If the session exists already, it continues.
	Open(ctx context.Context, s SessionInfo) error

	// Find returns the description of a session, whichever process opened it. If the session does
	// not exist, the error is [ErrNoSession].
	Find(ctx context.Context, session string) (SessionInfo, error)

	// Touch sets [SessionInfo.Used] to the current time if the session can outlive this process.
	Touch(ctx context.Context, k Key, now time.Time) error

	// End ends a session. The ledger forgets the session once none of its calls is open or waiting
	// for approval.
	End(ctx context.Context, k Key) error

	// Stage runs f on the latest state of the session and its shared nets, and applies the change
	// that f returns, so that later steps see it. An error from f is returned unchanged. Stage may
	// block, because the queue of staged steps is bounded.
	//
	// If another process changed the state first, f runs again on the newer state, so f must have
	// no side effects. It must not retain the state or block.
	//
	// Unless the commit is nil, the caller must wait for it exactly once, and must not act on the
	// step before the wait ends.
	Stage(ctx context.Context, k Key, f func(*gate.State) (Change, error)) (Commit, error)

	// View runs f on the latest state. f must not modify or retain the state. If the session does
	// not exist, f gets the state that a new session of the principal would have.
	View(ctx context.Context, k Key, f func(*gate.State)) error

	// Append stages events that do not change any net's state.
	Append(ctx context.Context, events ...audit.Event) (Commit, error)

	// Sessions returns the open sessions of all processes, and ended sessions that still have open
	// calls.
	Sessions(ctx context.Context) iter.Seq2[SessionInfo, error]

	// Adopt replaces the policy and reports what happened to each session's nets. If the error is
	// [ErrHeld], nothing has changed, and the report shows which nets prevented the replacement.
	Adopt(ctx context.Context, a Adoption) ([]Adopted, error)

	// Records reports whether the ledger records events. If not, callers can skip creating them.
	Records() bool

	// Ready returns nil if steps can probably be made durable now, or else an error that explains
	// why they cannot.
	Ready() error
}

// Commit is a step that has been staged but might not be durable yet.
type Commit interface {
	// Wait waits until the step is durable. The first goroutine that waits commits all staged
	// steps. If Wait returns an error, the step has been undone. If the error is [ErrStale],
	// another process changed the state first, and the step can be staged again.
	Wait(ctx context.Context) error
}

// wait calls c.Wait unless c is nil.
func wait(ctx context.Context, c Commit) error {
	if c == nil {
		return nil
	}
	return c.Wait(ctx)
}

// Update stages a step and waits until it is durable, retrying while other processes change the
// state first. For the requirements on f, see [Ledger.Stage].
func Update(ctx context.Context, l Ledger, k Key, f func(*gate.State) (Change, error)) error {
	return commit(ctx, func() (Commit, error) { return l.Stage(ctx, k, f) })
}

// commit stages a step and waits until it is durable. If the error is [ErrStale], it tries again.
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
type Key struct {
	Session   string `json:"session"`
	Principal string `json:"principal,omitempty"`
}

// Change is the effect of one step in a [Ledger]. All parts of a change are committed together.
type Change struct {
	Delta  *gate.Delta   // changes to the nets; nil means none
	Uses   string        // ID of the consent that the step uses up; if it has been used already, the error is approval.ErrUsed
	Events []audit.Event // events to record with the step

	// Admits is set if the change admits a call. [Commit.Wait] returns [ErrStopped] for such a
	// change if the database contains a stop that covers the session.
	Admits bool
}

// SessionInfo describes a session of a [Ledger].
type SessionInfo struct {
	Key
	Since time.Time

	// Lasting is set if the session can outlive the process that opened it and can be opened by
	// other processes, even at the same time. This requires a database.
	Lasting bool

	// About is a JSON object that describes the session to other processes. It is stored by
	// [Ledger.Open] and may be nil.
	About []byte

	// The following fields are set only if several processes share the ledger.
	Open    int // number of open calls
	Calls   []OpenCall
	Used    time.Time // time of the last change to the session or of the last call to [Ledger.Touch]
	Ended   bool      // whether the session has ended but still has open calls
	Process string    // process that owns the session; empty if this process owns it or no process does
	Gone    bool      // whether the owning process has exited while the session still has open calls
}

// OpenCall is an admitted call that has not been settled.
type OpenCall struct {
	Number  uint64
	Tool    string
	Since   time.Time
	Unknown bool   // whether the outcome was reported as unknown, or the process that makes the call has exited
	More    uint64 // number of further calls with an unknown outcome that this call represents; see [gate.OpenCall.More]
}

// Adoption describes how to convert all states in a ledger to another policy; see
// [gate.Policy.Adopt].
type Adoption struct {
	Policy *gate.Policy
	Active []string      // nets that are active afterward; nil means all
	Reset  []string      // nets to reset to their initial states
	Time   time.Time     // current time
	Events []audit.Event // events to record with the adoption
	Try    bool          // whether to report the effect without changing anything
}

// Adopted describes what an adoption did to the nets of one session. If only Principal is set, it
// describes the nets shared by the principal's sessions; if neither Session nor Principal is set,
// it describes the nets shared by all sessions.
type Adopted struct {
	Key
	Nets []gate.Kept
}

// Held reports whether any net is held; see [ErrHeld].
func (a Adopted) Held() bool {
	return slices.ContainsFunc(a.Nets, func(k gate.Kept) bool { return k.Fate == gate.Held })
}

// Errors returned by a [Ledger].
var (
	ErrNoSession = errors.New("the session has ended") // the session has ended or never existed
	ErrStale     = backend.ErrStale                    // returned by [Commit.Wait] if the step can be staged again

	// ErrHeld is returned by [Ledger.Adopt] if a net is held. Only a hand-written net that differs
	// between the policies can be held. It is held if it has left its initial state or has calls in
	// flight.
	ErrHeld = errors.New("a changed net is not in its initial state or has calls in flight")
)
