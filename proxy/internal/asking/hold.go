package asking

import "time"

const progressEvery = 5 * time.Second // interval between progress notifications while a call waits for a person

// An Event is something that happens while a call waits for a person's answer.
type Event int

// Events returned by [Hold.Wait].
const (
	Ended    Event = iota // the person has answered, time is up, or the client has stopped waiting
	Gone                  // the call that showed the question to the user has ended, so this call must show it again
	Unasked               // the client did not show the question to its user
	Progress              // a progress notification is due
)

// A Hold represents a call that waits for a person's answer. It is not safe for concurrent use.
type Hold struct {
	answered, over, unasked <-chan struct{}
	end                     *time.Timer
	progress                *time.Ticker
}

// NewHold returns a Hold that ends after the duration d or when one of the channels is closed. The
// caller must close the first channel when the person answers or it is too late to answer. It must
// close the second when the call is canceled.
func NewHold(d time.Duration, answered, over <-chan struct{}) *Hold {
	return &Hold{answered: answered, over: over, end: time.NewTimer(d)}
}

// Tell makes [Hold.Wait] report two more events: [Progress], at regular intervals, and [Unasked],
// when the given channel is closed.
func (h *Hold) Tell(unasked <-chan struct{}) {
	h.progress, h.unasked = time.NewTicker(progressEvery), unasked
}

// Wait waits for the next event and returns it. It returns [Gone] if the given channel is closed.
// The last event is always [Ended]. Wait uses little stack, so that calls that wait for a long time
// use little memory.
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
	h.end.Stop()
	if h.progress != nil {
		h.progress.Stop()
	}
	return Ended
}
