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

// hold counts the message of c, which is to wait, and reports whether there is
// room for it.
func (c *Call) hold() bool {
	if c.held.Load() {
		return true
	}
	largest := c.pipeline.MaxRequest
	w, who := &c.pipeline.backlog, c.Client.Principal
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[who]+c.size > maxBacklog*largest || w.total+c.size > maxBacklogAll*largest {
		return false
	}
	if w.held == nil {
		w.held = map[string]int{}
	}
	w.held[who] += c.size
	w.total += c.size
	c.held.Store(true)
	return true
}

// unhold is called when the message of c is sent, or not needed any more.
func (c *Call) unhold() {
	if !c.held.Swap(false) {
		return
	}
	w, who := &c.pipeline.backlog, c.Client.Principal
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total -= c.size
	if w.held[who] -= c.size; w.held[who] == 0 {
		delete(w.held, who)
	}
}

// spawnHeld runs what may wait, unless too much waits already.
func (c *Call) spawnHeld(f func()) {
	switch {
	case c.hold():
		c.Spawn(f)
	case c.Tool == nil:
		c.answerError(spec.CodeInternal, tooMuchWaits)
	default:
		r := PlainRefusal("busy", c.Tool.Exposed+" was not called and nothing was spent: "+tooMuchWaits)
		c.pipeline.RecordRefusal(c, r)
		c.answer(r)
	}
}

const tooMuchWaits = "Your calls that wait are too large together. Call it again when one of them has ended."
