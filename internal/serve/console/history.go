package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

const (
	maxTracks    = 200    // maximum number of sessions with recorded steps
	maxSteps     = 1000   // maximum number of steps per session
	maxAllSteps  = 10_000 // maximum number of steps in all sessions
	maxUnread    = 1000   // maximum number of unread records that the feed holds
	maxSaidInOne = 5      // maximum number of records that a single step describes
)

// A step is a change in a session, along with the resulting state of the session's nets.
type step struct {
	Number int // position in the session, starting at 1
	Time   time.Time
	Said   []string // descriptions of the records in the step
	Call   uint64   // number of the call within the session; 0 unless the step concerns exactly one call
	Before string   // why steps are missing before this one; empty if none are missing

	state  *gate.State   // nil if the state was rebuilt from records
	policy *gate.Policy  // policy used to rebuild the state; nil if the state was not rebuilt
	past   *replay.State // state rebuilt from records; nil if the state was not rebuilt
}

// A track holds the newest steps of a session, oldest first.
type track struct {
	steps    []step
	last     int // number of the newest step
	used     time.Time
	gap      string // why the state after the newest step is unknown; empty if it is known
	complete bool   // whether the track includes the first step of the session
}

// A history keeps the states of the nets in each session: one state for each step. It uses stored
// records to rebuild states from before the console was opened, and leaves out states that cannot
// be determined for certain. A history is safe for concurrent use.
//
// A rebuilt step describes a single stored record. A step from the audit feed may describe several
// records, and its state may already reflect later ones.
type history struct {
	done    chan struct{}
	ready   chan struct{}   // closed when the stored records have been processed
	known   map[string]bool // IDs of the stored records that already have a step; used only by run
	durable bool            // whether session states survive a restart of the proxy; used only by run

	mu      sync.Mutex
	tracks  map[string]*track // keyed by session ID
	count   int               // number of steps in all tracks
	lost    int               // number of records that were lost
	before  string            // why steps are missing from sessions that are not in tracks; empty if no steps are missing
	reading bool              // whether stored records are still being read
}

func newHistory() *history {
	return &history{done: make(chan struct{}), ready: make(chan struct{}), known: map[string]bool{}, tracks: map[string]*track{}}
}

func (h *history) setReading(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reading = on
}

// forget drops all steps. Pages show the given reason for the missing steps.
func (h *history) forget(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.tracks)
	clear(h.known)
	h.count, h.before = 0, why
}

// open creates a track (a list of steps) for a session that has just started, unless the session
// already has a track. It marks the track as complete, because no steps of the session have been
// missed.
func (h *history) open(session string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tracks[session] == nil {
		t := h.track(session)
		t.complete, t.used = true, at
	}
}

// markMissed marks the final state of the session as unknown, because the session ended before the
// history could read the state.
func (h *history) markMissed(session string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tracks[session]; t != nil {
		t.gap, t.used = "the session ended before its nets were read", at
	}
}

// skip marks the session's state after the last recorded step as unknown, for the given reason.
func (h *history) skip(session, why string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.track(session)
	t.gap, t.used = why, at
}

// add adds a step to each session with new records about its nets. The step describes these records
// and contains the session's current state. If the current state cannot be read, add adds no step
// to the session and marks its state as unknown. add ignores records that already have a step. It
// adds the given number of lost records to the history's total.
func (h *history) add(records [][]byte, lost int, state func(session string) (*gate.State, error)) {
	fresh := map[string]*step{}
	var order []string
	for _, r := range records {
		if h.known[recordID(r)] { // already added as one of the stored records
			continue
		}
		record := trail.Record{Event: r}
		e, err := record.Entry()
		if err != nil || e.Session == "" {
			continue
		}
		if e.Event == "session opened" && !h.durable { // if states are kept in a database, the session may have steps from before a restart
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
			h.markMissed(session, fresh[session].Time)
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

// addStep appends a step to the session's track and numbers it. If there are too many steps, it
// drops the oldest.
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

// track returns the session's track, and creates it if necessary. The caller must hold the lock.
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

// trim drops the oldest n steps.
func (t *track) trim(n int) {
	t.steps = append([]step(nil), t.steps[n:]...)
	t.steps[0].Before = "older steps are not kept"
}

// dropOldest drops the least recently used track. Tracks without steps are dropped first. The
// caller must hold the lock.
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

// stepsOf returns the recorded steps of a session, oldest first. If later steps are missing, it
// also returns the reason.
func (h *history) stepsOf(session string) (steps []step, gap string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.tracks[session]
	switch {
	case s != nil:
		return append([]step(nil), s.steps...), s.gap
	case h.reading:
		return nil, "older records are being read"
	}
	return nil, h.before
}

// sessions returns the IDs of the sessions that have steps, most recently used first.
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

// describe describes a record in words. It returns "" if the record does not concern any net.
func describe(e *trail.Entry) string {
	call, tool := "", e.Tool
	if e.Upstream != "" && e.Event == "decision" {
		tool = e.Upstream + "." + e.Tool // use the full name of the tool, as outcome records do
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
		return "settled as " + strings.TrimPrefix(e.Event, "settle ") + " by an operator" + call
	case "reset":
		return "reset by an operator"
	}
	return ""
}
