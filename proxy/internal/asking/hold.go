package asking

import "time"

const progressEvery = 5 * time.Second // interval while a person thinks

// An Event is an event in the wait of a call for a person's answer.
type Event int

// Events of a [Hold].
const (
	Ended    Event = iota // answered, time is up, or the client stopped waiting
	Gone                  // the call that showed the question to the client has gone
	Unasked               // the client did not show the question
	Progress              // a progress notification is due
)

// A Hold is the wait of a call for a person's answer. It is not safe for concurrent use.
type Hold struct {
	answered, over, unasked <-chan struct{}
	end                     *time.Timer
	progress                *time.Ticker
}

// NewHold begins a wait of at most d. It ends earlier when answered or over is closed.
func NewHold(d time.Duration, answered, over <-chan struct{}) *Hold {
	return &Hold{answered: answered, over: over, end: time.NewTimer(d)}
}

// Tell makes [Hold.Wait] return [Progress] periodically, and [Unasked] once when that channel is
// closed.
func (h *Hold) Tell(unasked <-chan struct{}) {
	h.progress, h.unasked = time.NewTicker(progressEvery), unasked
}

// Wait returns the next event. [Ended] is the last one. It returns [Gone] when gone is closed. Wait
// uses little stack, so that a long wait at the bottom of a goroutine keeps little memory.
func (h *Hold) Wait(gone <-chan struct{}) Event {
	var progress <-chan time.Time
	if h.progress != nil {
		progress = h.progress.C
	}
	select {
	case <-h.answered:
	case <-h.over:
	case <-h.end.C:
	case <-gone:
		return Gone
	case <-h.unasked:
		h.unasked = nil
		return Unasked
	case <-progress:
		return Progress
	}
	h.stop()
	return Ended
}

func (h *Hold) stop() {
	h.end.Stop()
	if h.progress != nil {
		h.progress.Stop()
	}
}
