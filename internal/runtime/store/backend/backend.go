// Package backend says what a durable ledger needs of a database: rows for the states of
// sessions and of what they share, records on a chain, approvals, and the kill switch. It
// knows neither nets nor SQL; the ledger encodes, and packages sqlite and postgres store.
//
// A [Part] is a session, or what the sessions of a principal or all sessions share. It has
// a version, which each write raises by one. An [Op] is one step of the gate: it replaces
// parts whose versions are those that it read, adds records, and may use up an approval.
// It is committed whole or not at all.
package backend

import (
	"context"
	"errors"
	"iter"
	"time"
)

// The errors of an [Op] that another was faster than, or that may not be.
var (
	ErrStale   = errors.New("the state was changed by another process")
	ErrUsed    = errors.New("the approval was used already, or has expired")
	ErrStopped = errors.New("stopped by an operator")
)

// ErrClock is the error of an [Op] that reserves at a time before what is on record: the
// clock was set back, by which an approval that has expired would be valid again.
var ErrClock = errors.New("the clock is behind the records")

// ErrUncertain is the error of a [Backend.Commit] of which it is not known whether it took
// effect: the connection broke. The records of this process tell, see [Backend.Records].
var ErrUncertain = errors.New("it is not known whether the commit took effect")

// ErrRolledBack is the error of a database that has less in it than this process, or a
// process before it, has seen committed: an old copy was restored.
var ErrRolledBack = errors.New("the database is an older copy of itself")

// ErrUnflushed is the error of an [Op] that is committed, and may be lost with power although it must
// not be: nothing may come of it.
var ErrUnflushed = errors.New("it could not be brought to the disk")

// ErrUnusable is an error of a database that no waiting mends: it is none, or of another
// program, or of a newer version of this one.
var ErrUnusable = errors.New("the database cannot be used")

// Unusable returns err as an [ErrUnusable], with its own text.
func Unusable(err error) error { return unusable{err} }

type unusable struct{ error }

// Is reports whether the target is [ErrUnusable].
func (unusable) Is(target error) bool { return target == ErrUnusable }

// Unwrap returns the error with its own text.
func (u unusable) Unwrap() error { return u.error }

// A Scope says who shares a part.
type Scope string

// The scopes of parts.
const (
	Session   Scope = "session"
	Principal Scope = "principal"
	Global    Scope = "global"
)

// A PartID names a part. The name of a session is its id, that of what all share is empty.
type PartID struct {
	Scope Scope
	Name  string
}

// A Part is a row with what belongs to it.
type Part struct {
	ID      PartID
	Version int64             // 0: it is not there
	Data    []byte            // the state but for single values of keys, one JSON object
	Values  map[string][]byte // by the key of the row: states for single values of keys of nets
	Changed time.Time
}

// A Write replaces a part, or says what an [Op] has read.
type Write struct {
	ID      PartID
	Version int64             // that was read; 0: it must not be there yet
	Read    bool              // the part only has to have the version, and stays as it is
	Data    []byte            // nil, without Change: the part is removed, with its values
	Change  []byte            // what has changed, instead of Data, for a backend that merges
	Values  map[string][]byte // rows to replace; nil: the row is removed. Others stay
}

// An Event goes on record: one JSON object, without a number and without a line end.
type Event struct {
	Time    time.Time
	Session string // that has taken the step; empty: none, though the object may be about one
	Object  []byte
}

// A Record is an event on a chain. A chain has one writer: each process that opens the
// database begins one.
type Record struct {
	Event
	Writer string
	Seq    uint64   // counts from 1 without a gap
	Hash   [32]byte // see audit.Link
}

// An Op is one step.
type Op struct {
	Session string  // whose step it is, for the kill switch
	Reserve bool    // it admits a call: it is on the disk when it is committed, and is refused while stopped
	Lasts   bool    // what it moves outlives this process
	Writes  []Write // all, or none
	Events  []Event // that go on the chain of this process if the op is committed
	Uses    string  // id of the approval that this uses up; empty: none
	Time    time.Time

	// Flush is set by [Backend.Commit] if the op is committed and needs a flush. The call must not be sent
	// before Flush has returned nil. All ops of a commit have the same function, which may be called
	// again. Its error is an [ErrUnflushed].
	Flush func() error

	// Err is set by [Backend.Commit]: nil, or [ErrUnflushed], or [ErrStale], [ErrUsed],
	// [ErrStopped] or another error where nothing of this op was committed.
	Err error
}

// The states of an approval that a database knows; package approval has the others, all of
// which are final. One that is pending or approved is live.
const (
	Pending  = "pending"
	Approved = "approved"
	Consumed = "consumed" // by the use of an [Op]
)

// An Approval is a request for approval as it is stored. Its state changes by
// compare-and-swap of the version.
type Approval struct {
	ID      string
	Key     string // of the call that it is about: at most one that is live has it
	State   string // see package approval
	Session string
	Version int64
	Created time.Time
	Expires time.Time
	Data    []byte // the rest, one JSON object
}

// Live reports whether the approval can still be answered or used.
func (a *Approval) Live() bool { return a.State == Pending || a.State == Approved }

// A Stop is a use of the kill switch.
type Stop struct {
	Session string // empty: all sessions
	Actor   string
	Reason  string
	Time    time.Time
}

// A Query selects records.
type Query struct {
	Writer  string    // empty: of all writers, in the order of time
	After   uint64    // with Writer: seq from which on, exclusive
	Since   time.Time // zero: from the first
	Session string    // empty: of all; otherwise those of no session as well
	Limit   int       // 0: all
	Last    bool      // the last Limit ones rather than the first
	Page    int       // how many are read at a time; 0: PageSize
}

// A Backend is a database. It is safe for concurrent use, but for Commit, which is called
// by one goroutine at a time.
type Backend interface {
	// Load reads parts as they are now, in the order of ids. One that is not there has
	// version 0.
	Load(ctx context.Context, ids ...PartID) ([]Part, error)

	// Versions reads the versions of parts as they are now, in the order of ids.
	Versions(ctx context.Context, ids ...PartID) ([]int64, error)

	// List reads the parts of a scope without their values, the oldest first.
	List(ctx context.Context, s Scope) iter.Seq2[Part, error]

	// ListWith is List of the parts whose data has the text in it.
	ListWith(ctx context.Context, s Scope, text string) iter.Seq2[Part, error]

	// Commit commits the ops in order, in one transaction, and sets their Err. An op reads
	// what the ops before it wrote. After an error of Commit itself nothing of any op is
	// committed, except with [ErrUncertain]. Where an op reserves, and what it moves outlives this
	// process, it is on the disk when Commit returns, or has Flush, unless the configuration waives it.
	Commit(ctx context.Context, ops []*Op) error

	// Writer names the chain of this process.
	Writer() string

	// Merges reports whether a [Write] may have what has changed instead of the data.
	Merges() bool

	// Heads are the last records of all chains, by writer.
	Heads(ctx context.Context) ([]Record, error)

	// Records reads records.
	Records(ctx context.Context, q Query) iter.Seq2[Record, error]

	// RemoveRecords removes the oldest records of a chain, up to the record through and at most so
	// many, and returns their number. The caller has put the removal on record before, and keeps the
	// last record of each process that still runs.
	RemoveRecords(ctx context.Context, writer string, through uint64, most int) (removed int, err error)

	// PutApproval writes an approval whose version in the database is a.Version, 0 for a
	// new one, and returns the new version. Its error is [ErrStale] where another was
	// faster, or where another live one has the key.
	PutApproval(ctx context.Context, a Approval) (version int64, err error)

	// Approvals reads approvals: the one with the id, or those with the key, or, where both
	// are empty, all that are live or ended after since; the oldest first.
	Approvals(ctx context.Context, id, key string, since time.Time) ([]Approval, error)

	// DropApprovals forgets those that ended before.
	DropApprovals(ctx context.Context, before time.Time) error

	// SetStop uses the kill switch, or, where on is false, ends the stop of the session
	// (or of all), with a record of it.
	SetStop(ctx context.Context, s Stop, on bool, e ...Event) error

	// Stops reads what is stopped.
	Stops(ctx context.Context) ([]Stop, error)

	// Changes wakes whoever reads the channel when another process may have changed
	// approvals or stops. It may wake without need, and may miss changes for two seconds.
	Changes() <-chan struct{}

	// Ready reports why nothing can be committed now, as far as is known; it may try to
	// reach the database again.
	Ready(ctx context.Context) error

	Close() error
}
