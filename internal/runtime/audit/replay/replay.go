package replay

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// Options of a replay. Policy is required.
type Options struct {
	Policy  *gate.Policy
	Active  []string                   // the nets that are active at the first record; nil: all
	Where   func(gate.Position) string // a position as the report has it; nil: as it is
	Durable bool                       // the states outlive a process, where the log does not say otherwise
	Partial bool                       // records before the first one are left out
	Whole   time.Time                  // of the records from before, some are left out; zero: none is
	Differs func(*Divergence)          // is told of each decision that comes out otherwise; may be nil
}

// A Replay makes the decisions of a log again, record by record ([Replay.Add]).
//
// A call is made as the policy decides: one that it refuses moves no net, whatever the log
// says of its end. One that it allows and the log refuses moves none either, since nobody
// knows how it would have ended.
type Replay struct {
	original *gate.Policy
	policy   *gate.Policy // reads the stand
	active   []string
	where    func(gate.Position) string
	reads    *reading.Reader
	stand    *stand
	nets     []netInfo
	prepared gate.Prepared
	fallback bool // that a process keeps states, see Options.Durable

	sessions map[string]*session
	parts    map[partKey]*part
	drivers  map[string]string // of processes
	known    map[string]loaded // policies by their fingerprints
	writers  map[string]bool   // of a database, of which some record was read
	begun    map[string]bool   // processes whose policy is on record
	cut      bool              // the log does not begin with its first record
	since    time.Time         // see Options.Whole
	differs  func(*Divergence) // may be nil

	report       Report
	fingerprints map[string]bool
	rules        map[RuleCount]int
	reasons      map[string]int
}

// loaded is what the log says of a policy.
type loaded struct {
	fields, results, maps, actions map[string]bool

	full bool // its records have all arguments
}

// New returns a replay under a policy.
func New(o Options) (*Replay, error) {
	r := &Replay{
		original: o.Policy, active: o.Active, where: o.Where, stand: &stand{}, fallback: o.Durable, cut: o.Partial || !o.Whole.IsZero(), since: o.Whole, differs: o.Differs,
		sessions: map[string]*session{}, parts: map[partKey]*part{}, drivers: map[string]string{}, known: map[string]loaded{}, writers: map[string]bool{}, begun: map[string]bool{},
		fingerprints: map[string]bool{}, rules: map[RuleCount]int{}, reasons: map[string]int{},
	}
	if r.where == nil {
		r.where = gate.Position.String
	}
	var nets []gate.Net
	for _, n := range o.Policy.Nets() {
		nets = append(nets, n.Net)
	}
	r.reads = reading.New(nets)
	var err error
	if r.policy, err = rebuild(o.Policy, r.reads, r.stand); err != nil {
		return nil, err
	}
	r.nets = r.inspect(nets)
	r.report.Policy = o.Policy.Fingerprint()
	return r, nil
}

// durable reports whether the states of a process outlive it.
func (r *Replay) durable(process string) bool {
	driver, ok := r.drivers[process]
	return ok && driver != "memory" || !ok && r.fallback
}

// Add takes the next record.
func (r *Replay) Add(record *trail.Record, e *trail.Entry) {
	r.report.Records++
	if !r.writers[record.Writer] {
		r.writers[record.Writer] = true
		r.cut = r.cut || record.Seq > 1
	}
	switch e.Event {
	case "start":
		if e.Process != "" {
			r.drivers[e.Process] = cmp.Or(e.Driver, r.drivers[e.Process])
		}
	case "policy":
		r.begun[e.Process] = true
		r.load(e)
	case "removed":
		r.cut = true
	case "session opened":
		r.open(e)
	case "session closed":
		if s := r.sessions[e.Session]; s != nil {
			s.closed = true
			r.forget(e.Session, s)
		}
	case "decision":
		r.decide(record, e)
	case "outcome":
		r.end(e, gate.End{Outcome: outcomes[e.Outcome], Result: r.stand.ended(e.Values)})
	case "settle success":
		r.end(e, gate.End{Outcome: gate.Success, All: true})
	case "settle failure":
		r.end(e, gate.End{Outcome: gate.Failure, All: true})
	case "reset":
		if s := r.sessions[e.Session]; s != nil {
			s.with(func(state *gate.State) { state.Apply(r.policy.Reset(state)) })
			s.move(e.Time)
		}
	case "activate", "deactivate":
		r.toggle(e.Net, e.Event == "activate", e.Time)
	case "resumed":
		r.loseAll("records could not be written for a while")
	}
}

var outcomes = map[string]gate.Outcome{"success": gate.Success, "failure": gate.Failure, "unknown": gate.Unknown}

// load notes what the log says of a policy, and whose nets are active.
func (r *Replay) load(e *trail.Entry) {
	set := func(list []string) map[string]bool {
		m := map[string]bool{}
		for _, s := range list {
			m[s] = true
		}
		return m
	}
	r.known[e.Policy] = loaded{set(e.Fields), set(e.Results), set(e.Maps), set(e.Actions), e.Arguments == audit.Full}
	none := r.active != nil && len(r.active) == 0 // which the record does not tell from all
	if e.Policy == r.report.Policy && (len(e.Active) > 0 || !none) {
		r.active = e.Active
	}
}

// open begins a session, or goes on with one that outlived its process. Where the log does not begin with
// its first record, it may be an older one that is opened again, or be decided with other nets switched on.
func (r *Replay) open(e *trail.Entry) {
	if old := r.sessions[e.Session]; old != nil && (old.process == e.Process || r.durable(e.Process)) {
		if old.closed {
			old.lose(reopened)
		}
		old.closed = false
		return
	}
	s := r.begin(e.Principal, e.Process, e.Time)
	s.again = r.cut && r.durable(e.Process)
	s.early = e.Time.Before(r.since) || r.cut && !r.begun[e.Process]
	s.partial = s.again || s.early
	if old := r.sessions[e.Session]; old != nil && old.process == "" { // perhaps it is the same process
		s.lose(reopened)
	}
	r.sessions[e.Session] = s
}

// session is the one that a record is about; one that was opened before the log begins
// begins with it.
func (r *Replay) session(e *trail.Entry, since time.Time) *session {
	s := r.sessions[e.Session]
	if s == nil {
		s = r.begin(e.Principal, e.Process, since)
		s.partial = r.cut
		r.sessions[e.Session] = s
	}
	return s
}

// forget drops a session that is over.
func (r *Replay) forget(id string, s *session) {
	if s.closed && len(s.calls) == 0 {
		delete(r.sessions, id)
	}
}

// toggle switches a net on or off in all sessions. The clock of one that is off stands still.
func (r *Replay) toggle(net string, on bool, at time.Time) {
	if active, err := r.policy.Switch(r.active, net, on); err == nil {
		r.active = active
	}
	all := slices.Collect(maps.Values(r.sessions))
	for _, p := range r.parts { // also what no open session shares
		all = append(all, &session{state: r.policy.NewState(r.active), parts: []*part{p}})
	}
	for _, s := range all {
		s.with(func(state *gate.State) { state.Apply(r.policy.Tick(state, at)) })
	}
	for _, s := range all { // a clock that begins again does so with the next call
		s.with(func(state *gate.State) { r.switchIn(state, net, on) })
	}
}

// switchIn switches a net in one state, where it is not so already.
func (r *Replay) switchIn(state *gate.State, net string, on bool) {
	if d, err := r.policy.Toggle(state, net, on); err == nil {
		state.Apply(d)
	}
}

// end settles a call.
func (r *Replay) end(e *trail.Entry, how gate.End) {
	s := r.sessions[e.Session]
	if s == nil {
		return
	}
	c, ok := s.calls[e.Call]
	if !ok {
		return
	}
	if c.made {
		how.Time = e.Time
		end := r.policy.PrepareEnd(how)
		s.with(func(state *gate.State) { state.Apply(end.Settle(state, c.number)) })
		s.move(e.Time)
	}
	if how.Outcome != gate.Unknown {
		delete(s.calls, e.Call)
		r.forget(e.Session, s)
	}
}
