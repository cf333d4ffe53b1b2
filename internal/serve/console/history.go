package console

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/audit/trail"
)

const (
	maxTracks    = 100  // sessions of which steps are kept
	maxSteps     = 50   // of a session
	maxUnread    = 1000 // records
	maxSaidInOne = 5    // records of one step that are written out
)

// A step is what a session did, and the state of its nets after it.
type step struct {
	Number int // of the session, from 1
	Time   time.Time
	Said   []string // the records, in words
	State  *gate.State
}

// A track is the last steps of a session, the oldest first.
type track struct {
	steps []step
	last  int // number of the newest
	used  time.Time
}

// A history keeps the states of the nets after what happens, as long as the console is open:
// records do not have them. Records that come faster than they are read share a step, and its
// state may be that after the next ones too.
type history struct {
	done chan struct{}

	mu     sync.Mutex
	tracks map[string]*track // by session
	lost   int               // records
}

func newHistory() *history {
	return &history{done: make(chan struct{}), tracks: map[string]*track{}}
}

// run follows the feed until ctx ends. State returns the present state of a session.
func (h *history) run(ctx context.Context, feed *audit.Feed, state func(session string) (*gate.State, error)) {
	defer close(h.done)
	if feed == nil {
		return
	}
	from := feed.Follow(maxUnread)
	defer from.Close()
	for {
		select {
		case <-from.Ready():
			records, lost := from.Take()
			h.add(records, lost, state)
		case <-ctx.Done():
			return
		}
	}
}

// add takes records, and the state of each session that they are about.
func (h *history) add(records [][]byte, lost int, state func(session string) (*gate.State, error)) {
	fresh := map[string]*step{}
	var order []string
	for _, r := range records {
		record := trail.Record{Event: r}
		e, err := record.Entry()
		if err != nil || e.Session == "" {
			continue
		}
		said := saidOf(&e)
		if said == "" {
			continue
		}
		one := fresh[e.Session]
		if one == nil {
			one = &step{}
			fresh[e.Session] = one
			order = append(order, e.Session)
		}
		one.Time, one.Said = e.Time, append(one.Said, said)
	}
	for _, session := range order {
		s, err := state(session)
		if err != nil {
			continue // it has ended
		}
		one := fresh[session]
		if more := len(one.Said) - maxSaidInOne; more > 0 {
			one.Said = append(one.Said[:maxSaidInOne], fmt.Sprintf("and %d more", more))
		}
		one.State = s
		h.keep(session, one)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost += lost
}

// keep adds a step to the track of its session.
func (h *history) keep(session string, one *step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.tracks[session]
	if s == nil {
		if len(h.tracks) >= maxTracks {
			h.dropOldest()
		}
		s = &track{}
		h.tracks[session] = s
	}
	s.last++
	one.Number, s.used = s.last, one.Time
	s.steps = append(s.steps, *one)
	if len(s.steps) > maxSteps {
		s.steps = append([]step(nil), s.steps[len(s.steps)-maxSteps:]...)
	}
}

// dropOldest requires the lock.
func (h *history) dropOldest() {
	var oldest string
	var at time.Time
	for id, s := range h.tracks {
		if at.IsZero() || s.used.Before(at) {
			oldest, at = id, s.used
		}
	}
	delete(h.tracks, oldest)
}

// of returns the steps of a session that are kept, the oldest first.
func (h *history) of(session string) []step {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.tracks[session]; s != nil {
		return append([]step(nil), s.steps...)
	}
	return nil
}

// saidOf is a record in words; empty: it is not about a net.
func saidOf(e *trail.Entry) string {
	call, tool := "", e.Tool
	if e.Upstream != "" && e.Event == "decision" {
		tool = e.Upstream + "." + e.Tool // as the outcome has it
	}
	if e.Call > 0 {
		call = fmt.Sprintf(" (call %d)", e.Call)
	}
	switch e.Event {
	case "decision":
		verb := map[string]string{"allow": "allowed", "refuse": "refused", "ask": "asked about"}[e.Decision.Decision]
		return strings.TrimSpace(tool + " " + verb + call)
	case "outcome":
		return strings.TrimSpace(e.Tool + " ended: " + e.Outcome + call)
	case "settle success", "settle failure":
		return strings.TrimPrefix(e.Event, "settle ") + " said by an operator" + call
	case "reset":
		return "reset by an operator"
	}
	return ""
}
