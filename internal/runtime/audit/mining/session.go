package mining

import "math"

// A session is a session in the log, with its history so far.
type session struct {
	process string
	partial bool // the session began before the log
	early   bool // the session certainly began before the log
	resumed bool // the session began before the log unless its first call has number 1
	calls   map[uint64]*action
	clock   int // number of events so far

	tools        map[int]*toolState
	values       map[fieldKey]map[string]*valueState
	invalidators map[*invalidator]*invalidatorState
	lastRow      string // the value of action.row for the last call
	run          int
}

// A toolState counts a tool's calls in a session.
type toolState struct {
	made, ok           int
	firstMade, firstOK int // time of the first call, and time of the first success, on the session's clock; 0: never
	lastMade, lastOK   int
	freshOK            int // admission time of that successful call that was admitted last
	pending            int // number of calls that have not ended
	lastEnd            int
}

// before reports whether a success of t came before the session's first call of b.
func (t *toolState) before(b *toolState) bool { return t.firstOK > 0 && t.firstOK < b.firstMade }

func newSession(process string) *session {
	return &session{
		process: process, calls: map[uint64]*action{},
		tools: map[int]*toolState{}, values: map[fieldKey]map[string]*valueState{}, invalidators: map[*invalidator]*invalidatorState{},
	}
}

func (s *session) tool(n int) *toolState { return entry(s.tools, n, math.MaxInt) }

// passed counts an admitted call.
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

// ended counts the end of a call, with any outcome.
func (s *session) ended(a *action) {
	for _, n := range a.names {
		t := s.tool(n.tool)
		t.pending--
		t.lastEnd = s.clock
	}
}

// succeeded counts a success.
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

// A valueState counts a session's calls with one value of a field.
type valueState struct {
	made, ok         int
	lastMade, lastOK int
}

// value returns the state for a value. If there are too many values, the state is not kept.
func (s *session) value(key fieldKey, value string) *valueState {
	if s.values[key] == nil {
		s.values[key] = map[string]*valueState{}
	}
	return entry(s.values[key], value, maxValues)
}

func (s *session) invalidatorState(of *invalidator) *invalidatorState {
	return entry(s.invalidators, of, math.MaxInt)
}
