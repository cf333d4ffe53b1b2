package asking

import "time"

const progressEvery = 5 * time.Second // while a person thinks

// An Event is something that a call which is held for the answer of a person goes on with.
type Event int

// Events of a [Hold].
const (
	Ended    Event = iota // answered, the end of the hold, or nobody waits for the call
	Gone                  // the call that showed the question to the client is gone
	Unasked               // the client showed the question to nobody
	Progress              // it is time to say that the call still waits
)

// A Hold is the time for which a call is held for the answer of a person.
type Hold struct {
	answered, over, unasked <-chan struct{}
	end                     *time.Timer
	progress                *time.Ticker
}

// NewHold begins a hold of at most d, which ends before when answered or over is closed.
func NewHold(d time.Duration, answered, over <-chan struct{}) *Hold {
	return &Hold{answered: answered, over: over, end: time.NewTimer(d)}
}

// Tell makes [Hold.Wait] return [Progress] now and then, and [Unasked] once when that is closed.
func (h *Hold) Tell(unasked <-chan struct{}) {
	h.progress, h.unasked = time.NewTicker(progressEvery), unasked
}

// Wait returns the next event; after [Ended] there is none. It returns [Gone] when that is
// closed. It has little on the stack, so that a call which waits for long does not keep more
// where it begins a goroutine with it.
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
