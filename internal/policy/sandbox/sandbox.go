package sandbox

import (
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Epoch is the initial time of every sandbox.
var Epoch = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// A Sandbox contains simulated sessions under a policy. Time passes only in [Sandbox.Wait].
type Sandbox struct {
	policy   *gate.Policy
	now      time.Time
	first    *Session
	sessions map[string]*Session
}

// A Participant is the name and the principal of a session to be started.
type Participant struct{ Name, Principal string }

// New starts a session for each participant or, without participants, a single unnamed session.
// Sessions with the same principal share the state of nets with principal scope, and all sessions
// share the state of nets with global scope. active lists the nets that are initially active; nil
// means all.
func New(p *gate.Policy, active []string, participants ...Participant) *Sandbox {
	s := &Sandbox{policy: p, now: Epoch, sessions: make(map[string]*Session)}
	if len(participants) == 0 {
		participants = []Participant{{}}
	}
	shared := gate.SharedOptions{Active: active, Time: Epoch}
	o := gate.SessionOptions{Active: active, Time: Epoch, Global: gate.NewShared(p, gate.ScopeGlobal, shared)}
	principals := make(map[string]*gate.Shared)
	for _, of := range participants {
		if principals[of.Principal] == nil {
			principals[of.Principal] = gate.NewShared(p, gate.ScopePrincipal, shared)
		}
		o.Principal = principals[of.Principal]
		session := &Session{Session: gate.NewSession(p, o), box: s, waiting: make(map[string]waitingCall), calls: make(map[string]madeCall)}
		s.sessions[of.Name] = session
		if s.first == nil {
			s.first = session
		}
	}
	return s
}

// Now returns the simulated time.
func (s *Sandbox) Now() time.Time { return s.now }

// Wait advances the simulated time by d. Sessions notice this at their next call, or at
// [gate.Session.Tick].
func (s *Sandbox) Wait(d time.Duration) { s.now = s.now.Add(d) }

// Session returns the session with the given name, the first session if name is empty, or nil if no
// session has the name.
func (s *Sandbox) Session(name string) *Session {
	if name == "" {
		return s.first
	}
	return s.sessions[name]
}

// A Session is a simulated session. Calls are identified by IDs assigned by the caller.
type Session struct {
	*gate.Session
	box     *Sandbox
	waiting map[string]waitingCall
	calls   map[string]madeCall // last admitted call for each ID
}

// A madeCall is an admitted call.
type madeCall struct {
	number uint64
	names  gate.Call // the call without its arguments
}

// A waitingCall is a call waiting for approval.
type waitingCall struct {
	call gate.Call
	ask  *gate.Ask
}
