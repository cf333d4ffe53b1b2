package store

import (
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// entry is one session.
type entry struct {
	info admission.SessionInfo

	mu    sync.Mutex
	state *gate.State
	parts []*part // that it shares, in the order of locking
	ended bool    // it is forgotten once nothing of it is open

	// In a database.
	row     *row // nil: it is not read
	new     bool // it may not be there yet
	evicted bool // another entry may be in its place
	roams   bool // another process had changed it when it was read last
	owner   uint64
	others  map[uint64]string  // by which open calls were admitted; this one: those that are not in it
	asks    map[uint64]*queued // by which calls began to wait for a person
}

// end notes that the session has ended, and returns it if it is over.
func (e *entry) end() (over *entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	return e.ifOver()
}

// lock locks the session and what it shares, in this order.
func (e *entry) lock() {
	e.mu.Lock()
	for _, p := range e.parts {
		p.lend(e.state)
	}
}

func (e *entry) unlock() {
	for _, p := range slices.Backward(e.parts) {
		p.keep(e.state)
	}
	e.mu.Unlock()
}

// ifOver returns the session if it has ended and nothing of it is open. It needs
// the lock of the session.
func (e *entry) ifOver() *entry {
	if e.ended && len(e.state.Calls) == 0 && len(e.state.Asks) == 0 {
		return e
	}
	return nil
}

// described is what the session is.
func (e *entry) described() admission.SessionInfo {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.info
}

// elsewhere reports whether another process is likely to have changed the session since the last
// step here: its calls go to several processes, and one begins now. To read it again costs less than
// a decision that the database refuses. It needs the lock.
func (e *entry) elsewhere() bool {
	return e.roams && !e.row.pending() && len(e.state.Calls) == 0 && len(e.state.Asks) == 0
}

// hold locks the session alone.
func (e *entry) hold() { e.mu.Lock() }

func (e *entry) tryHold() bool { return e.mu.TryLock() }

func (e *entry) release() { e.mu.Unlock() }

// idle reports whether the entry can be forgotten and read again. It needs the lock.
func (e *entry) idle() bool {
	if e.row == nil {
		return !e.new
	}
	return e.row.faulty() == nil && e.row.version > 0 && !e.row.pending() && !e.ended && len(e.state.Asks) == 0
}

// stored is what is kept of the session beside its nets.
func (e *entry) stored(writer string) statecode.Info {
	i := statecode.Info{Principal: e.info.Principal, Since: e.info.Since, Owner: e.owner, Writer: writer, Ended: e.ended, About: string(e.info.About)}
	if e.info.Lasting {
		i.Writer = ""
	}
	return i
}
