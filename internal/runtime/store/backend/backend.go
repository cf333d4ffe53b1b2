// Package backend defines what a durable ledger needs from a database: it must store the states of
// sessions and shared nets, chained records, approvals, and the kill switch. The ledger (package
// store) encodes this data, and the packages journal and postgres store it.
//
// A [Part] holds the state of one session, of the nets shared by a principal's sessions, or of the
// nets shared by all sessions. Each write raises its version by one. An [Op] contains the changes
// of a decision: it writes parts, adds records, and may use up an approval. It is refused if a part
// no longer has the version that the decision read (compare-and-swap). An op is committed
// completely or not at all.
package backend

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors of an [Op] that is refused because another process was faster or because the op is not
// permitted.
var (
	ErrStale   = errors.New("another process has changed the state")
	ErrUsed    = errors.New("the approval was used already, or has expired")
	ErrStopped = errors.New("stopped by an operator")
)

// ErrClock means that an [Op] that admits a call is older than the newest record by more than
// [Skew]. If such an op were committed, setting a clock back could make an expired approval valid
// again.
var ErrClock = errors.New("the clock is behind the records")

// ErrUncertain is the error of [Backend.Commit] if it is unknown whether the commit took effect,
// because the connection broke. This process's records in the database show whether it did; see
// [Backend.Records].
var ErrUncertain = errors.New("the commit's outcome is unknown")

// ErrRolledBack means that the database lacks commits that this process or an earlier process has
// seen. The usual cause is that an old copy has replaced the database.
var ErrRolledBack = errors.New("the database is an older copy of itself")

// ErrUnflushed is the error of an [Op] that is committed but could not be flushed to disk. A power
// loss may undo the op, so its call must not be sent.
var ErrUnflushed = errors.New("could not write it to the disk")

// ErrUnusable means that waiting will not make the database usable: the file is not a database,
// belongs to another program, or was written by a newer version of petrigate.
var ErrUnusable = errors.New("the database cannot be used")

// Unusable returns an error that matches [ErrUnusable] and has the text of err.
func Unusable(err error) error { return unusable{err} }

type unusable struct{ error }

// Is reports whether target is [ErrUnusable].
func (unusable) Is(target error) bool { return target == ErrUnusable }

// Unwrap returns the original error.
func (u unusable) Unwrap() error { return u.error }

// Scope is the kind of a [Part]. It determines which sessions share the part.
type Scope string

// Scopes of a [Part].
const (
	Session   Scope = "session"
	Principal Scope = "principal"
	Global    Scope = "global"
)

// PartID identifies a [Part]. The name of a session's part is the session ID; the name of the
// global part is empty.
type PartID struct {
	Scope Scope
	Name  string
}

// Part is a unit of stored state with its own version. Most parts hold the nets of one session, or
// nets that sessions share. If a net has a key, it has a separate state for each value of the key;
// Values holds these states.
type Part struct {
	ID      PartID
	Version int64             // 0 if the part does not exist
	Data    []byte            // the state except for Values, as a JSON object
	Values  map[string][]byte // states of nets that have keys; each map key names a net and a value of the net's key
	Changed time.Time
}

// Write replaces a [Part], or only checks the version of a part that an [Op] depends on.
type Write struct {
	ID      PartID
	Version int64             // version that was read, or 0 if the part must not exist yet
	Read    bool              // whether only the version is checked and the part is left unchanged
	Data    []byte            // new data; if Data and Change are both nil, the part and its values are removed
	Change  []byte            // changes to the data, used instead of Data if the backend can merge changes
	Values  map[string][]byte // entries to replace in the part's Values; nil removes an entry, and entries that are not listed are unchanged
}

// Event is an event to record, as a JSON object without a record number and without line breaks.
type Event struct {
	Time    time.Time
	Session string // session that the event belongs to, or empty
	Object  []byte
}

// Record is an event in a chain. Each chain has one writer: every process that opens the database
// begins its own chain.
type Record struct {
	Event
	Writer string
	Seq    uint64   // number of the record in its chain, counted from 1 without gaps
	Hash   [32]byte // hash that covers the record and the one before it; see audit.Link
}

// Op is a set of changes, such as those of a decision, that is committed completely or not at all.
type Op struct {
	Session string  // session that the op belongs to, or empty
	Reserve bool    // whether the op admits a call; such an op is flushed to disk before the call is sent, and refused while the session is stopped
	Lasts   bool    // whether the op changes state that outlives this process
	Writes  []Write // parts of the state to write; either all or none are written
	Events  []Event // events to add to this process's chain if the op is committed
	Uses    string  // ID of the approval that the op uses up, or empty
	Time    time.Time

	// Flush is set by [Backend.Commit] if the op is committed and needs a flush. The call must not
	// be sent before Flush has returned nil. All ops of a commit share the same function, which may
	// be called more than once. Any error that it returns is an [ErrUnflushed].
	Flush func() error

	// Err is set by [Backend.Commit]. It is nil if the op is committed, and [ErrUnflushed] if the
	// op is committed but not on disk. After any other error, such as [ErrStale], [ErrUsed] or
	// [ErrStopped], the op has no effect.
	Err error
}

// States of an approval that a database must distinguish. An approval is live while it is pending
// or approved. Package approval defines further states, and all of them are final.
const (
	Pending  = "pending"
	Approved = "approved"
	Consumed = "consumed" // the approval was used up by an [Op]
)

// Approval is a stored approval request. Every change to it is a compare-and-swap on its version.
type Approval struct {
	ID      string
	Key     string // key of the call; no two live approvals have the same key
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
	Session string // session whose calls are stopped, or empty for all sessions
	Actor   string
	Reason  string
	Time    time.Time
}

// Query selects records.
type Query struct {
	Writer  string    // only records of this writer; if empty, the records of all writers, sorted by time
	After   uint64    // only records with numbers greater than this one; requires Writer
	Since   time.Time // earliest time, or zero for no limit
	Session string    // only records of this session and records without a session; if empty, the records of all sessions
	Limit   int       // maximum number of records, or 0 for no limit
	Last    bool      // whether to select the last records instead of the first; requires Limit
	Page    int       // number of records to read at a time; defaults to PageSize
}

// PageSize is the default of [Query.Page].
const PageSize = 1000

// Backend is a database. It is safe for concurrent use, except that only one goroutine at a time
// may call Commit.
type Backend interface {
	// Load reads the current parts of the state, one for each ID, in the same order as ids. A part
	// that does not exist has version 0.
	Load(ctx context.Context, ids ...PartID) ([]Part, error)

	// Versions is like Load, but reads only the versions of the parts.
	Versions(ctx context.Context, ids ...PartID) ([]int64, error)

	// List reads every [Part] that has the given scope and whose data contains the given text. The
	// parts are sorted by the time of their last change, and their values are left out.
	List(ctx context.Context, s Scope, text string) iter.Seq2[Part, error]

	// Commit commits the ops in order, in one transaction, and sets the field Err of each. An op
	// sees the writes of the ops before it. If Commit itself fails, nothing is committed, unless
	// the error is [ErrUncertain].
	//
	// If a committed op admits a call and changes state that outlives this process, it is on disk
	// when Commit returns, or Commit has set its Flush. The configuration can disable this
	// guarantee.
	Commit(ctx context.Context, ops []*Op) error

	// Writer returns the name of this process's chain.
	Writer() string

	// Merges reports whether a [Write] may contain changes instead of data.
	Merges() bool

	// Heads returns each chain's last record, ordered by writer.
	Heads(ctx context.Context) ([]Record, error)

	// Records reads the records that the query selects.
	Records(ctx context.Context, q Query) iter.Seq2[Record, error]

	// RemoveRecords removes the oldest records of a chain, up to the record with the given number,
	// but at most limit records per call. It returns the number of records that it removed. The
	// caller must first record the removal, and must keep the last record of each running process.
	RemoveRecords(ctx context.Context, writer string, through uint64, limit int) (removed int, err error)

	// PutApproval writes an approval if its version in the database is a.Version, which is 0 for a
	// new approval. It returns the new version. The error is [ErrStale] if the version differs or
	// if another live approval has the same key.
	PutApproval(ctx context.Context, a Approval) (version int64, err error)

	// Approvals reads the approval with the given ID, or the approvals with the given key. If both
	// the ID and the key are empty, it reads all approvals that are live or that ended after the
	// given time. The oldest come first.
	Approvals(ctx context.Context, id, key string, since time.Time) ([]Approval, error)

	// DropApprovals removes the approvals that ended before the given time.
	DropApprovals(ctx context.Context, before time.Time) error

	// SetStop adds a stop if on is true. Otherwise it ends the stop of s.Session, or the stop of
	// all sessions if s.Session is empty. The events are recorded together with this change.
	SetStop(ctx context.Context, s Stop, on bool, e ...Event) error

	// Stops reads the stops in force.
	Stops(ctx context.Context) ([]Stop, error)

	// Changes returns a channel that receives a value when another process may have changed
	// approvals or stops. Values may arrive without a change, and up to two seconds late.
	Changes() <-chan struct{}

	// Ready returns nil if commits are expected to work, or an error that explains why they are
	// not. It may try to reach the database again.
	Ready(ctx context.Context) error

	Close() error
}
