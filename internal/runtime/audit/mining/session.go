package mining

import "github.com/petrigate/petrigate/internal/runtime/audit/trail"

// session is one of the log, with what it did so far.
type session struct {
	principal string
	process   string
	partial   bool // it began before the log does
	early     bool // so it did, whatever follows
	again     bool // so it did unless its first call has the number 1
	calls     map[uint64]*action
	clock     int // counts what happens

	tools  map[int]*toolState
	values map[fieldKey]map[string]*valueState
	spoils map[*spoiler]*spoilState
	lastly string // the row of the last call
	run    int
}

// toolState is what a session did with a tool.
type toolState struct {
	made, ok           int
	firstMade, firstOK int // by the clock of the session; 0: never
	lastMade, lastOK   int
	freshOK            int // when the newest call that succeeded was made
	under              int // calls that did not end
	lastEnd            int
}

func newSession(e *trail.Entry) *session {
	return &session{
		principal: e.Principal, process: e.Process, calls: map[uint64]*action{},
		tools: map[int]*toolState{}, values: map[fieldKey]map[string]*valueState{}, spoils: map[*spoiler]*spoilState{},
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

// passed counts a call.
func (s *session) passed(a *action) {
	for _, n := range a.names {
		t := s.tool(n.tool)
		if t.made++; t.made == 1 {
			t.firstMade = s.clock
		}
		t.lastMade = s.clock
		t.under++
	}
}

// ended counts the end of a call, whatever came of it.
func (s *session) ended(a *action) {
	for _, n := range a.names {
		t := s.tool(n.tool)
		t.under--
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
