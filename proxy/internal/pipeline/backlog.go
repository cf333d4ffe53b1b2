package pipeline

import (
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// Bounds of what calls hold while they wait, for a server that starts or to be sent again, by
// principal and in all. The broker of approvals counts the calls that wait for people.
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

// hold counts the message of a call that is to wait, and reports whether there is room for
// it.
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

// unhold stops counting a message that is sent, or not needed any more.
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

// spawnHeld spawns f with the message of the call counted in the backlog. Where that is
// full, it answers the call.
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
