package mining

import "github.com/petrigate/petrigate/internal/runtime/audit/trail"

// A session is a session in the log, with its history so far.
type session struct {
	principal string
	process   string
	partial   bool // the session began before the log
	early     bool // the session certainly began before the log
	resumed   bool // the session began before the log unless its first call has number 1
	calls     map[uint64]*action
	clock     int // number of events so far

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

func newSession(e *trail.Entry) *session {
	return &session{
		principal: e.Principal, process: e.Process, calls: map[uint64]*action{},
		tools: map[int]*toolState{}, values: map[fieldKey]map[string]*valueState{}, invalidators: map[*invalidator]*invalidatorState{},
	}
}

func (s *session) tool(n int) *toolState {
	t := s.tools[n]
	if t == nil {
		t = &toolState{}
		s.tools[n] = t
	}
	return t
}

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

// value returns the state for a value, or nil if there are too many values.
func (s *session) value(key fieldKey, value string) *valueState {
	all := s.values[key]
	if all == nil {
		all = map[string]*valueState{}
		s.values[key] = all
	}
	v := all[value]
	if v == nil && len(all) < maxValues {
		v = &valueState{}
		all[value] = v
	}
	return v
}

func (s *session) invalidatorState(of *invalidator) *invalidatorState {
	state := s.invalidators[of]
	if state == nil {
		state = &invalidatorState{}
		s.invalidators[of] = state
	}
	return state
}
