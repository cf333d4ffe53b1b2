package admission

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A Ledger keeps the states of the nets and the record of what was decided on
// them. It is safe for concurrent use. A step is staged, which changes the states as this
// process sees them, and committed: then it is durable, all of it or nothing. Steps are
// committed in the order in which they were staged, many of them together. After an error
// of Stage or of [Commit.Wait] nothing of the step is in force, nor of what was staged on it.
//
// The states of a ledger are all of one policy, which [Ledger.Adopt] replaces.
type Ledger interface {
	// Open begins a session: its nets are at their start, and their clocks start at
	// s.Since. A session that is there already goes on.
	Open(ctx context.Context, s SessionInfo) error

	// Find describes a session, whichever process has it, or returns [ErrNoSession].
	Find(ctx context.Context, session string) (SessionInfo, error)

	// Touch sets [SessionInfo.Used] of a session that outlives this process.
	Touch(ctx context.Context, k Key, now time.Time) error

	// End forgets a session, once no call of it is open or waits any more.
	End(ctx context.Context, k Key) error

	// Stage runs f on the newest state of the session and of what it shares, and
	// makes the change in the state that later steps see. Nothing may come of it before
	// its commit has been waited for, which the caller always does, once; a nil commit
	// needs no wait. f may run again, on a newer state, where another was faster: it
	// has no side effects, does not keep the state, and does not block. An error of f is
	// returned as it is. The queue of what waits is bounded: Stage may wait for a place.
	Stage(ctx context.Context, k Key, f func(*gate.State) (Change, error)) (Commit, error)

	// View runs f on the newest state, which f must not change or keep. Without a
	// session in k the state is that of one which begins now for the principal.
	View(ctx context.Context, k Key, f func(*gate.State)) error

	// Append stages events that move no net.
	Append(ctx context.Context, events ...audit.Event) (Commit, error)

	// Sessions lists the sessions that are open, of other processes too, and those that
	// ended with calls open.
	Sessions(ctx context.Context) iter.Seq2[SessionInfo, error]

	// Adopt puts another policy in force, and reports what became of the nets of each
	// session. With [ErrHeld], and the same report, it has changed nothing.
	Adopt(ctx context.Context, a Adoption) ([]Adopted, error)

	// Records reports whether events are kept at all. If not, none need be made.
	Records() bool

	// Ready reports why nothing can be made durable now, as far as is known.
	Ready() error
}

// A Commit is a staged step that is not known to be durable.
type Commit interface {
	// Wait returns nil once the step is durable. Whoever waits first commits all that
	// waits. After an error the step is undone. The error is [ErrStale] where another
	// process was faster: the step may be staged again.
	Wait(ctx context.Context) error
}

// wait waits for a commit, which may be nil.
func wait(ctx context.Context, c Commit) error {
	if c == nil {
		return nil
	}
	return c.Wait(ctx)
}

// Update stages a step, waits for its commit, and begins anew where another process was
// faster. See [Ledger.Stage] for f.
func Update(ctx context.Context, l Ledger, k Key, f func(*gate.State) (Change, error)) error {
	return commit(ctx, func() (Commit, error) { return l.Stage(ctx, k, f) })
}

// commit stages a step and waits for it, until no other process is faster.
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

// A Key names a session, and the principal whose session it is.
type Key struct{ Session, Principal string }

// A Change is what one step changes. The parts are committed together.
type Change struct {
	Delta  *gate.Delta   // nil: no net moves
	Uses   string        // id of the approval that this uses up; approval.ErrUsed if another was faster
	Events []audit.Event // that go on record with it

	// Admits says that a call is admitted by it: it is on the disk before its commit ends,
	// and [ErrStopped] is its error while that is stopped.
	Admits bool
}

// SessionInfo describes a session of a [Ledger].
type SessionInfo struct {
	Key
	Since time.Time

	// Lasting says that the session outlives the process, where the ledger does: another
	// process may open it again, or at the same time. The others end with their process.
	Lasting bool

	// About is what is to be known of the session in other processes: one JSON object,
	// which [Ledger.Open] stores; nil: nothing.
	About []byte

	// Of a session of a ledger that several processes share.
	Open    int // calls
	Calls   []OpenCall
	Used    time.Time // when it changed, or was touched, last
	Ended   bool      // it is kept for calls that are open
	Process string    // the other process that has it; empty: this one, or none
	Gone    bool      // that process has ended: the session is kept for calls that are open
}

// An OpenCall is a call of a [SessionInfo] that was admitted and is not settled.
type OpenCall struct {
	Number  uint64
	Tool    string
	Since   time.Time
	Unknown bool   // its outcome was reported as unknown, or its process has ended
	More    uint64 // see [gate.OpenCall]
}

// An Adoption makes all states of a ledger those of another policy, see
// [gate.Policy.Adopt].
type Adoption struct {
	Policy *gate.Policy
	Active []string      // the nets that are active from now on; nil: all
	Reset  []string      // nets that begin at their start, whatever their states are
	Time   time.Time     // now
	Events []audit.Event // that go on record with it
	Try    bool          // only report, and change nothing
}

// Adopted is what became of the nets of one session when a policy took over.
// Without a session it is what those of the principal share, without a principal too what
// all share.
type Adopted struct {
	Key
	Nets []gate.Kept
}

// Held reports whether a net is not replaced, see [ErrHeld].
func (a Adopted) Held() bool {
	return slices.ContainsFunc(a.Nets, func(k gate.Kept) bool { return k.Fate == gate.Held })
}

// The errors of a [Ledger].
var (
	ErrNoSession = errors.New("the session is over")                   // or was never opened
	ErrStale     = errors.New("another process has changed the state") // of [Commit.Wait]

	// ErrHeld is of [Ledger.Adopt]: a net that was written by hand has changed, and is
	// not at its start, or has calls in flight.
	ErrHeld = errors.New("a net has changed that is not at its start or has calls in flight")
)
