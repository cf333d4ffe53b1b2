package store

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// entry is a session in a ledger's memory.
type entry struct {
	info admission.SessionInfo

	mu    sync.Mutex
	state *gate.State
	parts []*part // shared parts of the state, in lock order
	ended bool    // whether the session has ended; it is forgotten once it has no open call

	// The following fields are used only by Durable.
	row        *row // nil until read from the database
	new        bool // whether the session might not be in the database yet
	evicted    bool // whether the entry was dropped from the cache; another entry may have replaced it
	roams      bool // whether the last read from the database found changes by another process
	owner      uint64
	admittedBy map[uint64]string      // the process that admitted each open call, keyed by call number, as last read from the database; a call without an entry was admitted by this process
	asks       map[uint64]*queuedStep // steps of the calls that wait for approval, keyed by call number
}

// markEnded marks the session as ended. It returns the session if no call is open or waiting for
// approval, so that the caller can forget it. Otherwise it returns nil.
func (e *entry) markEnded() (over *entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	return e.ifFinished()
}

// lockWithParts locks the session and then, in lock order, the parts of the state that it shares
// with others. It copies the parts' nets into the session's state.
func (e *entry) lockWithParts() {
	e.mu.Lock()
	for _, p := range e.parts {
		p.lockNets()
		p.copyInto(e.state)
	}
}

func (e *entry) unlockWithParts() {
	for _, p := range slices.Backward(e.parts) {
		p.copyFrom(e.state)
		p.unlockNets()
	}
	e.mu.Unlock()
}

// ifFinished returns the session if it has ended and no call is open or waiting for approval, so
// that the caller can forget it. Otherwise it returns nil. The caller must hold the session lock.
func (e *entry) ifFinished() *entry {
	if e.ended && len(e.state.Calls) == 0 && len(e.state.Asks) == 0 {
		return e
	}
	return nil
}

// sessionInfo returns the session's description.
func (e *entry) sessionInfo() admission.SessionInfo {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.info
}

// likelyStale reports whether another process has probably changed the session since this process
// last used it. This is likely if the session moves between processes and none of its calls in this
// process is in flight. Reading the session again costs less than a decision that the database
// rejects. The caller must hold the session lock.
func (e *entry) likelyStale() bool {
	return e.roams && !e.row.pending() && len(e.state.Calls) == 0 && len(e.state.Asks) == 0
}

// lockSession locks the session, but not the parts of the state that it shares with others.
func (e *entry) lockSession() { e.mu.Lock() }

func (e *entry) tryLockSession() bool { return e.mu.TryLock() }

func (e *entry) unlockSession() { e.mu.Unlock() }

// evictable reports whether the cache can evict the entry and read it again later. The caller must
// hold the session lock.
func (e *entry) evictable() bool {
	if e.row == nil {
		return !e.new
	}
	return e.row.dropReason() == nil && e.row.version > 0 && !e.row.pending() && !e.ended && len(e.state.Asks) == 0
}

// storedInfo returns the facts about the session that are stored along with its nets.
func (e *entry) storedInfo(writer string) statecode.Info {
	i := statecode.Info{Principal: e.info.Principal, Since: e.info.Since, Owner: e.owner, Writer: writer, Ended: e.ended, About: string(e.info.About)}
	if e.info.Lasting {
		i.Writer = ""
	}
	return i
}

// appendRows appends the rows of the session and of its shared parts, without duplicates.
func (e *entry) appendRows(rows []*row) []*row {
	rows = list.Add(rows, e.row)
	for _, p := range e.parts {
		rows = list.Add(rows, p.row)
	}
	return rows
}

// randomOwner returns a random number that identifies a session as an owner. Nets that several
// sessions share use it to tell apart the sessions' calls in flight; see [gate.State.Owners].
func randomOwner() uint64 { return rand.Uint64N(1<<63-1) + 1 }

// savedState holds the values that a delta replaces in a state, so that the step can be undone
// exactly.
type savedState struct {
	inverse  gate.Delta
	replaced *gate.OpenCall // the old version of an open call that the delta replaces; set only if the delta also closes a call, because inverse has room for only one call
	spent    []uint64
	last     uint64
	tools    []gate.Call
	would    gate.WouldCount
	nets     [4]gate.NetDelta // preallocated memory for inverse.Nets; most deltas change no more nets than this
}

// save saves the values in s that the delta d will replace.
func (b *savedState) save(s *gate.State, d *gate.Delta) {
	if d == nil {
		d = &gate.Delta{}
	}
	b.spent, b.last, b.tools, b.would = s.Spent, s.Last, s.Tools, s.Would
	i := &b.inverse
	i.Nets = b.nets[:0]
	for _, n := range d.Nets {
		saved := slices.ContainsFunc(i.Nets, func(other gate.NetDelta) bool { return other.Net == n.Net })
		if !saved { // save each net only once, although the delta may change several of its values
			i.Nets = append(i.Nets, gate.NetDelta{Net: n.Net, Data: s.Nets[n.Net]})
		}
	}
	if i.Asked = s.Asks[d.Answered]; d.Asked != nil {
		i.Answered = d.Asked.Number
	}
	i.Opened = s.Calls[d.Closed]
	switch c := d.Opened; {
	case c == nil:
	case s.Calls[c.Number] == nil:
		i.Closed = c.Number
	case i.Opened == nil: // the delta closes no call, so the field inverse is free for this one
		i.Opened = s.Calls[c.Number]
	default:
		b.replaced = s.Calls[c.Number]
	}
}

// restore undoes the delta in s by putting back the saved values.
func (b *savedState) restore(s *gate.State) {
	s.Apply(&b.inverse)
	if b.replaced != nil {
		s.Apply(&gate.Delta{Opened: b.replaced})
	}
	s.Spent, s.Last, s.Tools, s.Would = b.spent, b.last, b.tools, b.would
}
