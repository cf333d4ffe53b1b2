package mining

import "math"

// A session holds the facts that are known about a session of the log after the events read so far.
type session struct {
	process string
	partial bool // whether the session began before the log
	early   bool // whether the session was opened when records may be missing; such a session is partial
	resumed bool // set until the first call shows whether the session is partial: complete sessions begin with call number 1
	calls   map[uint64]*action
	clock   int // number of events so far

	tools        map[int]*toolState
	values       map[fieldKey]map[string]*valueState
	invalidators map[*invalidator]*invalidatorState
	lastRow      string // action.row of the last call; identical calls have the same value
	run          int
}

// A toolState counts the calls of one tool in a session.
type toolState struct {
	made, ok           int
	firstMade, firstOK int // session clock at the first call, and at the first success; 0 means never
	lastMade, lastOK   int
	freshOK            int // latest admission time of a successful call
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

// succeeded updates the tools' states for a successful call. It skips names that do not count as
// evidence.
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
