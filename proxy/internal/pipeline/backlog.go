package pipeline

import (
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// What the calls of one principal, and of all, may hold while they wait: for an
// upstream that starts, or to be sent again. Questions to people are counted by
// the book of approvals, and what is sent at once is never counted.
const (
	maxBacklog    = 16      // times the largest message
	maxBacklogAll = 64      // times the largest message
	waitingCost   = 4 << 10 // of a call besides its message
)

// A backlog counts the bytes of calls that wait, by principal.
type backlog struct {
	mu    sync.Mutex
	total int
	held  map[string]int // none with 0
}

// hold counts the message of t, which is to wait, and reports whether there is
// room for it.
func (t *Call) hold() bool {
	if t.held.Load() {
		return true
	}
	largest := t.proxy.MaxRequest
	w, who := &t.proxy.backlog, t.Client.Principal
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[who]+t.size > maxBacklog*largest || w.total+t.size > maxBacklogAll*largest {
		return false
	}
	if w.held == nil {
		w.held = map[string]int{}
	}
	w.held[who] += t.size
	w.total += t.size
	t.held.Store(true)
	return true
}

// unhold is called when the message of t is sent, or not needed any more.
func (t *Call) unhold() {
	if !t.held.Swap(false) {
		return
	}
	w, who := &t.proxy.backlog, t.Client.Principal
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total -= t.size
	if w.held[who] -= t.size; w.held[who] == 0 {
		delete(w.held, who)
	}
}

// waitAside runs what may wait, unless too much waits already.
func (t *Call) waitAside(f func()) {
	switch {
	case t.hold():
		t.Aside(f)
	case t.Tool == nil:
		t.refuseAs(spec.CodeInternal, tooMuchWaits)
	default:
		r := PlainRefusal("busy", t.Tool.Exposed+" was not called and nothing was spent: "+tooMuchWaits)
		t.proxy.RecordRefusal(t, r)
		t.answer(r)
	}
}

const tooMuchWaits = "Your calls that wait are too large together. Call it again when one of them has ended."
