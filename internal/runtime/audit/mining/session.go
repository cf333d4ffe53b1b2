package mining

import "math"

// A session holds the state of a recorded session after the events read so far.
type session struct {
	process string
	partial bool // whether the session began before the log
	early   bool // whether records from the beginning of the session might have been removed from the log; such a session is partial
	resumed bool // whether the session might have begun before the log; it is treated as partial until its first admitted call. If that call has number 1, the session began in the log.
	calls   map[uint64]*action
	clock   int // number of events so far

	tools        map[int]*toolState
	values       map[fieldKey]map[string]*valueState
	invalidators map[*invalidator]*invalidatorState
	lastRow      string // identifies the last call; identical calls have the same string
	run          int
}

// A toolState counts the calls of one tool in a session.
type toolState struct {
	made, ok           int
	firstMade, firstOK int // positions of the first call and of the first success among the session's events, counted from 1; 0 means never
	lastMade, lastOK   int
	freshOK            int // position of the latest admission whose call has succeeded, among the session's events
	pending            int // number of in-flight calls
	lastEnd            int
}

// before reports whether t succeeded before b was first called.
func (t *toolState) before(b *toolState) bool { return t.firstOK > 0 && t.firstOK < b.firstMade }

func newSession(process string) *session {
	return &session{
		process: process, calls: map[uint64]*action{},
		tools: map[int]*toolState{}, values: map[fieldKey]map[string]*valueState{}, invalidators: map[*invalidator]*invalidatorState{},
	}
}

func (s *session) tool(n int) *toolState { return entry(s.tools, n, math.MaxInt) }

// passed updates the tools' states for an admitted call.
func (s *session) passed(a *action) {
	for _, n := range a.names {
		t := s.tool(n.tool)
		if t.made++; t.made == 1 {
			t.firstMade = s.clock
		}
		t.lastMade = s.clock
		t.pending++
	}
}

// ended updates the tools' states for a call that has ended, whatever its outcome.
func (s *session) ended(a *action) {
	for _, n := range a.names {
		t := s.tool(n.tool)
		t.pending--
		t.lastEnd = s.clock
	}
}

// succeeded updates the tools' states for a successful call. It skips names that cannot count
// toward a requirement.
func (s *session) succeeded(a *action) {
	for _, n := range a.names {
		if !n.certain {
			continue
		}
		t := s.tool(n.tool)
		if t.ok++; t.ok == 1 {
			t.firstOK = s.clock
		}
		t.lastOK = s.clock
		t.freshOK = max(t.freshOK, a.clock)
	}
}

// A fieldKey is a field of a tool.
type fieldKey struct {
	tool  int
	field string
}

// A valueState counts the calls in a session that have a certain value in a field.
type valueState struct {
	made, ok         int
	lastMade, lastOK int
}

// value returns the state for a value of a field. If the field has too many values, the state is
// not stored.
func (s *session) value(key fieldKey, value string) *valueState {
	if s.values[key] == nil {
		s.values[key] = map[string]*valueState{}
	}
	return entry(s.values[key], value, maxValues)
}

func (s *session) invalidatorState(of *invalidator) *invalidatorState {
	return entry(s.invalidators, of, math.MaxInt)
}
