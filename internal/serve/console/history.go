package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

const (
	maxTracks    = 200    // sessions of which steps are kept
	maxSteps     = 1000   // of a session
	maxAllSteps  = 10_000 // of all of them
	maxUnread    = 1000   // records
	maxSaidInOne = 5      // records of one step that are written out
)

// A step is what a session did, and the state of its nets after it.
type step struct {
	Number int // of the session, from 1
	Time   time.Time
	Said   []string // the records, in words
	Call   uint64   // of the session; 0: none, or several
	Before string   // why what was between this step and the one before is not known; empty: nothing was

	state  *gate.State   // nil: it is rebuilt from records
	policy *gate.Policy  // of a rebuilt one
	past   *replay.State // likewise
}

// A track is the last steps of a session, the oldest first.
type track struct {
	steps []step
	last  int // number of the newest
	used  time.Time
	gap   string // why what was since the last step is not known
	complete bool   // nothing was before its first step
}

// A history keeps the states of the nets after what happens. Those of before the console was
// opened are rebuilt from records, as far as that is certain. Records that come faster than
// they are read share a step, and its state may be that after the next ones too.
type history struct {
	done    chan struct{}
	ready   chan struct{}   // closed when the records of before are done with
	known   map[string]bool // records of before that have a step; for run alone
	durable bool            // states outlive a process; likewise

	mu      sync.Mutex
	tracks  map[string]*track // by session
	count   int               // of steps
	lost    int               // records
	before  string            // why a session that has no step has none
	reading bool              // the records of before are being read
}

func newHistory() *history {
	return &history{done: make(chan struct{}), ready: make(chan struct{}), known: map[string]bool{}, tracks: map[string]*track{}}
}

// run rebuilds the states after past records, then adds a step for each record that live
// receives, until ctx ends, and closes live. The journal sends the past records to before, which
// is nil if no records are kept. state returns the current state of a session. live can be nil.
func (h *history) run(ctx context.Context, live *audit.Follower, before <-chan []trail.Record, durable bool, state func(session string) (*gate.State, error)) {
	defer close(h.done)
	if live == nil {
		return
	}
	defer live.Close()
	h.durable = durable
	h.rebuildAll(ctx, before, state)
	close(h.ready)
	for {
		select {
		case <-live.Ready():
			records, lost := live.Take()
			h.add(records, lost, state)
		case <-ctx.Done():
			return
		}
	}
}

// rebuildAll rebuilds what was before.
func (h *history) rebuildAll(ctx context.Context, before <-chan []trail.Record, state func(session string) (*gate.State, error)) {
	if before == nil {
		h.forget("records of before are kept nowhere")
		return
	}
	h.setReading(true)
	defer h.setReading(false)
	var records []trail.Record
	select {
	case records = <-before:
	case <-ctx.Done():
		return
	}
	fresh, err := state("")
	if err == nil {
		h.forget("the records of before do not tell of it")
		err = h.rebuild(ctx, records, fresh)
	}
	if err != nil {
		h.forget("the records of before cannot be made use of: " + err.Error())
	}
}

func (h *history) setReading(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reading = on
}

// forget drops all steps.
func (h *history) forget(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.tracks)
	clear(h.known)
	h.count, h.before = 0, why
}

// open notes that a session begins.
func (h *history) open(session string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tracks[session] == nil {
		t := h.track(session)
		t.complete, t.used = true, at
	}
}

// missed notes that a session has ended before the state after its last records was read.
func (h *history) missed(session string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tracks[session]; t != nil {
		t.gap, t.used = "the session ended before its nets were read", at
	}
}

// skip notes that the session did something after which nothing is known.
func (h *history) skip(session, why string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.track(session)
	t.gap, t.used = why, at
}

// add takes records, and the state of each session that they are about.
func (h *history) add(records [][]byte, lost int, state func(session string) (*gate.State, error)) {
	fresh := map[string]*step{}
	var order []string
	for _, r := range records {
		if h.known[recordID(r)] { // it was among those of before
			continue
		}
		record := trail.Record{Event: r}
		e, err := record.Entry()
		if err != nil || e.Session == "" {
			continue
		}
		if e.Event == "session opened" && !h.durable { // else it may go on with one that was there
			h.open(e.Session, e.Time)
		}
		said := describe(&e)
		if said == "" {
			continue
		}
		one := fresh[e.Session]
		if one == nil {
			one = &step{Call: e.Call}
			fresh[e.Session] = one
			order = append(order, e.Session)
		}
		if one.Time, one.Said = e.Time, append(one.Said, said); one.Call != e.Call {
			one.Call = 0
		}
	}
	for _, session := range order {
		s, err := state(session)
		if err != nil {
			h.missed(session, fresh[session].Time)
			continue
		}
		one := fresh[session]
		if more := len(one.Said) - maxSaidInOne; more > 0 {
			one.Said = append(one.Said[:maxSaidInOne], fmt.Sprintf("and %d more", more))
		}
		one.state = s
		h.addStep(session, one)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost += lost
}

// addStep adds a step to the track of its session.
func (h *history) addStep(session string, one *step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.track(session)
	if len(s.steps) == 0 && !s.complete && s.gap == "" && one.state != nil {
		s.gap = h.before
	}
	s.last++
	one.Number, one.Before, s.used, s.gap = s.last, s.gap, one.Time, ""
	s.steps = append(s.steps, *one)
	h.count++
	if len(s.steps) > maxSteps {
		s.trim(maxSteps / 2)
		h.count -= maxSteps / 2
	}
	for h.count > maxAllSteps && len(h.tracks) > 1 {
		h.dropOldest()
	}
}

// track returns the track of the session. It requires the lock.
func (h *history) track(session string) *track {
	s := h.tracks[session]
	if s == nil {
		if len(h.tracks) >= maxTracks {
			h.dropOldest()
		}
		s = &track{}
		h.tracks[session] = s
	}
	return s
}

// trim drops the first n steps.
func (t *track) trim(n int) {
	t.steps = append([]step(nil), t.steps[n:]...)
	t.steps[0].Before = "older steps are not kept"
}

// dropOldest drops the track that was used longest ago, of those without steps if there are any.
// It requires the lock.
func (h *history) dropOldest() {
	var oldest string
	var drop *track
	for id, t := range h.tracks {
		empty := len(t.steps) == 0
		if drop == nil || empty && len(drop.steps) > 0 || empty == (len(drop.steps) == 0) && t.used.Before(drop.used) {
			oldest, drop = id, t
		}
	}
	if drop != nil {
		h.count -= len(drop.steps)
		delete(h.tracks, oldest)
	}
}

// stepsOf returns the steps of a session that are kept, the oldest first, and why what was after
// the last of them is not known; empty: nothing was.
func (h *history) stepsOf(session string) (steps []step, gap string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.tracks[session]
	switch {
	case s != nil:
		return append([]step(nil), s.steps...), s.gap
	case h.reading:
		return nil, "the records of before are being read"
	}
	return nil, h.before
}

// sessions are those that have steps, the one used last first.
func (h *history) sessions() (ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, t := range h.tracks {
		if len(t.steps) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(h.tracks[b].used.Compare(h.tracks[a].used), strings.Compare(a, b))
	})
	return ids
}

// describe is a record in words; empty: it is not about a net.
func describe(e *trail.Entry) string {
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
		said := strings.TrimSpace(tool + " " + verb + call)
		if command := commandOf(e.Args); command != "" {
			said += ": " + command
		}
		return said
	case "outcome":
		return strings.TrimSpace(e.Tool + " ended: " + e.Outcome + call)
	case "settle success", "settle failure":
		return strings.TrimPrefix(e.Event, "settle ") + " said by an operator" + call
	case "reset":
		return "reset by an operator"
	}
	return ""
}
