package admission

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
)

// A Ledger keeps the states of the nets and the record of what was decided on
// them. It is safe for concurrent use. What an update yields is durable when Update
// returns nil, all of it or none; after an error nothing has changed.
//
// The states of a ledger are all of one policy, which [Ledger.Adopt] replaces.
type Ledger interface {
	// Open begins a session: its nets are at their start, and their clocks start at since.
	Open(ctx context.Context, k Key, since time.Time) error

	// End forgets a session, once no call of it is open or waits any more.
	End(ctx context.Context, k Key) error

	// Update runs f on the newest state of the session and of what it shares,
	// and commits the change. f may run again, on a newer state, where another was
	// faster: it has no side effects, does not keep the state, and does not block.
	// An error of f is returned as it is, and nothing is changed.
	Update(ctx context.Context, k Key, f func(*gate.State) (Change, error)) error

	// View runs f on the newest state, which f must not change or keep. Without a
	// session in k the state is that of one which begins now for the principal.
	View(ctx context.Context, k Key, f func(*gate.State)) error

	// Append puts events on record that move no net.
	Append(ctx context.Context, events ...audit.Event) error

	// Sessions lists the sessions that are open.
	Sessions(ctx context.Context) iter.Seq2[SessionInfo, error]

	// Adopt puts the events on record and makes all states those of p, in which the
	// named nets are active, all if active is nil; see [gate.Policy.Adopt]. It reports
	// what became of the nets of each session.
	Adopt(ctx context.Context, p *gate.Policy, active []string, events ...audit.Event) ([]Adopted, error)

	// Records reports whether events are kept at all. If not, none need be made.
	Records() bool

	// Ready reports why nothing can be made durable now, as far as is known.
	Ready() error
}

// A Key names a session, and the principal whose session it is.
type Key struct{ Session, Principal string }

// A Change is what one step changes. The parts are committed together.
type Change struct {
	Delta  *gate.Delta   // nil: no net moves
	Uses   string        // id of the approval that this uses up; approval.ErrUsed if another was faster
	Events []audit.Event // that go on record with it
}

// SessionInfo describes a session of a [Ledger].
type SessionInfo struct {
	Key
	Since time.Time
}

// Adopted is what became of the nets of one session when a policy took over.
type Adopted struct {
	Key
	Nets []gate.Kept
}

// ErrNoSession is the error of a [Ledger] for a session that is not open.
var ErrNoSession = errors.New("the session is over")
