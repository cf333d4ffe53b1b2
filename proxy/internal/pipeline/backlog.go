package pipeline

import "sync"

// Limits on the bytes of calls that wait for a starting server or that might be sent again, for one
// principal and in total. The approval broker counts the calls that wait for people.
const (
	maxBacklog    = 16      // times the largest message
	maxBacklogAll = 64      // times the largest message
	waitingCost   = 4 << 10 // bytes counted for a waiting call besides its message
)

// A backlog counts the bytes of waiting calls by principal.
type backlog struct {
	mu    sync.Mutex
	total int
	held  map[string]int // bytes by principal, without zero entries
}

// countWaiting counts the message of a call that is about to wait, and reports whether the backlog has room
// for it.
func (c *Call) countWaiting() bool {
	if c.inBacklog.Load() {
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
	c.inBacklog.Store(true)
	return true
}

// uncountWaiting stops counting a message that is sent or no longer needed.
func (c *Call) uncountWaiting() {
	if !c.inBacklog.Swap(false) {
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

const backlogFull = "Your calls that wait are too large together. Call it again when one of them has ended."
