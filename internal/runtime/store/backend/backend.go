// Package backend defines what a durable ledger needs from a database: rows for the states of
// sessions and shared nets, chained records, approvals, and the kill switch. The package knows
// neither nets nor SQL: the ledger (package store) encodes the data, and the packages journal and
// postgres store it.
//
// A [Part] is a session, or the nets that a principal's sessions or all sessions share. Each write
// raises its version by one. An [Op] is a step of the gate: it writes parts if they still have the
// versions that the decision has read (compare-and-swap), adds records, and may use up an approval.
// It is committed completely or not at all.
package backend

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors of an [Op] if another process was faster or the op is not permitted.
var (
	ErrStale   = errors.New("another process has changed the state")
	ErrUsed    = errors.New("the approval was used already, or has expired")
	ErrStopped = errors.New("stopped by an operator")
)

// ErrClock is the error of an [Op] with a reservation that is older than the newest record. The
// clock was set back, so an expired approval would be valid again.
var ErrClock = errors.New("the clock is behind the records")

// ErrUncertain is the error of [Backend.Commit] if the connection broke and it is unknown whether
// the commit took effect. This process's records show whether it did; see [Backend.Records].
var ErrUncertain = errors.New("the commit's outcome is unknown")

// ErrRolledBack is the error of a database that lacks commits which this process or an earlier
// process has seen, because an old copy was restored.
var ErrRolledBack = errors.New("the database is an older copy of itself")

// ErrUnflushed is the error of an [Op] that is committed but could not be flushed. A power loss may
// undo it, so its call must not be sent.
var ErrUnflushed = errors.New("could not write it to the disk")

// ErrUnusable is the error of a database that will not become usable by waiting: the file is not a
// database, belongs to another program, or was written by a newer petrigate version.
var ErrUnusable = errors.New("the database cannot be used")

// Unusable returns an error that is [ErrUnusable] and has the text of err.
func Unusable(err error) error { return unusable{err} }

type unusable struct{ error }

// Is reports whether the target is [ErrUnusable].
func (unusable) Is(target error) bool { return target == ErrUnusable }

// Unwrap returns the original error.
func (u unusable) Unwrap() error { return u.error }

// Scope is the kind of a part. It determines who shares the part.
type Scope string

// Scopes of parts.
const (
	Session   Scope = "session"
	Principal Scope = "principal"
	Global    Scope = "global"
)

// PartID identifies a part. A session part's name is the session ID; the global part's name is
// empty.
type PartID struct {
	Scope Scope
	Name  string
}

// Part is a stored part with its values.
type Part struct {
	ID      PartID
	Version int64             // 0: the part does not exist
	Data    []byte            // a JSON object: the state without the states for single key values
	Values  map[string][]byte // states for single values of the nets' keys, by row name
	Changed time.Time
}

// Write replaces a part, or contains a version on which an [Op] depends.
type Write struct {
	ID      PartID
	Version int64             // version that was read; 0: the part must not exist yet
	Read    bool              // check only the version; do not change the part
	Data    []byte            // new data; nil, without Change: remove the part with its values
	Change  []byte            // changes to the data, used instead of Data if the backend merges
	Values  map[string][]byte // value rows to replace; nil: remove the row; other rows are unchanged
}

// Event is a JSON object to record, without a number and without a line break.
type Event struct {
	Time    time.Time
	Session string // the step's session; empty: no session, although the object may concern one
	Object  []byte
}

// Record is an event in a chain. Each chain has one writer: every process that opens the database
// begins a chain.
type Record struct {
	Event
	Writer string
	Seq    uint64   // number of the record in its chain; counts from 1 without gaps
	Hash   [32]byte // see audit.Link
}

// Op is one step.
type Op struct {
	Session string  // the step's session, for the kill switch
	Reserve bool    // the op admits a call: it is flushed to the disk before the call is sent, and refused while the session is stopped
	Lasts   bool    // the op changes state that outlives this process
	Writes  []Write // written completely or not at all
	Events  []Event // added to this process's chain if the op is committed
	Uses    string  // ID of the approval that the op uses up; empty: none
	Time    time.Time

	// Flush is set by [Backend.Commit] if the op is committed and needs a flush. The call must not
	// be sent before Flush has returned nil. All ops of a commit have the same function, which may
	// be called again. Its error is an [ErrUnflushed].
	Flush func() error

	// Err is set by [Backend.Commit]: nil if the op is committed. With [ErrUnflushed] it is
	// committed but not on the disk. With any other error, such as [ErrStale], [ErrUsed] or
	// [ErrStopped], nothing of the op is committed.
	Err error
}

// States of an approval that a database distinguishes. The other states are final; package approval
// defines them. A pending or approved approval is live.
const (
	Pending  = "pending"
	Approved = "approved"
	Consumed = "consumed" // the approval was used up by an [Op]
)

// Approval is a stored approval request. Its state changes by compare-and-swap of the version.
type Approval struct {
	ID      string
	Key     string // key of the call; at most one live approval has a given key
	State   string // state as defined by package approval
	Session string
	Version int64
	Created time.Time
	Expires time.Time
	Data    []byte // other facts about the approval, as a JSON object
}

// Live reports whether the approval can still be answered or used.
func (a *Approval) Live() bool { return a.State == Pending || a.State == Approved }

// Stop describes one use of the kill switch.
type Stop struct {
	Session string // session whose calls are stopped; empty: all sessions
	Actor   string
	Reason  string
	Time    time.Time
}

// Query selects records.
type Query struct {
	Writer  string    // only records of this writer; empty: the records of all writers, sorted by time
	After   uint64    // with Writer: only records with greater numbers
	Since   time.Time // earliest time; zero: no limit
	Session string    // only records of this session or of no session; empty: all
	Limit   int       // maximum number of records; 0: no limit
	Last    bool      // with Limit: the last records rather than the first
	Page    int       // number of records read at a time; 0: PageSize
}

// Backend is a database. It is safe for concurrent use, except that only one goroutine at a time
// may call Commit.
type Backend interface {
	// Load reads the current parts, in the order of ids. A missing part has version 0.
	Load(ctx context.Context, ids ...PartID) ([]Part, error)

	// Versions reads the current versions of parts, in the order of ids.
	Versions(ctx context.Context, ids ...PartID) ([]int64, error)

	// List reads the scope's parts whose data contains the given text, without their values, oldest
	// first.
	List(ctx context.Context, s Scope, text string) iter.Seq2[Part, error]

	// Commit commits the ops in order, in one transaction, and sets their Err. An op sees the
	// writes of the ops before it. If Commit itself fails, nothing is committed, except with
	// [ErrUncertain]. If an op has Reserve and changes state that outlives this process, either it
	// is on the disk when Commit returns or its Flush is set, unless the configuration waives this.
	Commit(ctx context.Context, ops []*Op) error

	// Writer returns the name of this process's chain.
	Writer() string

	// Merges reports whether a [Write] can contain changes instead of data.
	Merges() bool

	// Heads returns each chain's last record, ordered by writer.
	Heads(ctx context.Context) ([]Record, error)

	// Records reads the selected records.
	Records(ctx context.Context, q Query) iter.Seq2[Record, error]

	// RemoveRecords removes a chain's oldest records up to the number through, but at most the
	// given number of records, and returns how many it has removed. The caller must first record
	// the removal, and must keep the last record of each running process.
	RemoveRecords(ctx context.Context, writer string, through uint64, most int) (removed int, err error)

	// PutApproval writes an approval if its version in the database is a.Version (0: it does not
	// exist), and returns the new version. It returns [ErrStale] if the version differs or another
	// live approval has the key.
	PutApproval(ctx context.Context, a Approval) (version int64, err error)

	// Approvals reads the approval with the given ID, or those with the given key. If both are
	// empty, it reads all approvals that are live or ended after since. The oldest come first.
	Approvals(ctx context.Context, id, key string, since time.Time) ([]Approval, error)

	// DropApprovals removes the approvals that ended before the given time.
	DropApprovals(ctx context.Context, before time.Time) error

	// SetStop adds a stop or, if on is false, ends the stop of the session (or of all sessions). It
	// records the events together with this change.
	SetStop(ctx context.Context, s Stop, on bool, e ...Event) error

	// Stops reads the stops in force.
	Stops(ctx context.Context) ([]Stop, error)

	// Changes returns a channel that receives when another process may have changed approvals or
	// stops. It may receive without a change, and may be up to two seconds late.
	Changes() <-chan struct{}

	// Ready returns nil if commits should work, or an error that explains why not. It may try to
	// reach the database again.
	Ready(ctx context.Context) error

	Close() error
}
