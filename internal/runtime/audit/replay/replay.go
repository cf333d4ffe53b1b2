package replay

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// Options configures a replay. Policy must be set.
type Options struct {
	Policy  *gate.Policy
	Active  []string                   // nets active at the beginning of the log, or nil for all
	Where   func(gate.Position) string // formats the position of a rule; defaults to gate.Position.String
	Durable bool                       // whether sessions outlive their process; used only if the log does not show this
	Partial bool                       // whether the beginning of the log is missing
	Whole   time.Time                  // records before this time may have been removed; zero if no records were removed
	Differs func(*Divergence)          // called for each differing decision; may be nil
}

// A Replay repeats the decisions in a log, record by record (see [Replay.Add]).
//
// The replayed policy determines the effect of each call. If it refuses a call, the call fires no
// transitions, even if the log shows an outcome. If it allows a call that was refused in the log,
// the call fires no transitions either, because its outcome is unknown.
type Replay struct {
	original *gate.Policy
	policy   *gate.Policy // copy of the original policy, rebuilt so that its nets read the current call as recorded
	active   []string
	where    func(gate.Position) string
	reads    *reading.Reader
	current  *recordedCall
	nets     []netInfo
	prepared gate.Prepared
	fallback bool // copy of Options.Durable

	sessions       map[string]*session
	parts          map[partKey]*part
	drivers        map[string]string         // kind of storage for session state, keyed by process
	policies       map[string]recordedPolicy // recorded policies, keyed by fingerprint
	writers        map[string]bool           // writers of the records read so far
	policyRecorded map[string]bool           // processes whose policy has been recorded
	cut            bool                      // whether the beginning of the log is missing
	since          time.Time                 // copy of Options.Whole
	differs        func(*Divergence)         // may be nil

	report       Report
	fingerprints map[string]bool
	rules        map[RuleCount]int
	reasons      map[string]int
}

// A recordedPolicy is the description of a policy in the log.
type recordedPolicy struct {
	fields, results, maps, actions map[string]bool

	full bool // whether all arguments were recorded under this policy
}

// New returns a Replay configured by o.
func New(o Options) (*Replay, error) {
	r := &Replay{
		original: o.Policy, active: o.Active, where: o.Where, current: &recordedCall{}, fallback: o.Durable, cut: o.Partial || !o.Whole.IsZero(), since: o.Whole, differs: o.Differs,
		sessions: map[string]*session{}, parts: map[partKey]*part{}, drivers: map[string]string{}, policies: map[string]recordedPolicy{}, writers: map[string]bool{}, policyRecorded: map[string]bool{},
		fingerprints: map[string]bool{}, rules: map[RuleCount]int{}, reasons: map[string]int{},
	}
	if r.where == nil {
		r.where = gate.Position.String
	}
	nets := list.Map(o.Policy.Nets(), func(n gate.NetInfo) gate.Net { return n.Net })
	r.reads = reading.New(nets)
	var err error
	if r.policy, err = rebuild(o.Policy, r.reads, r.current); err != nil {
		return nil, err
	}
	r.nets = r.inspect(nets)
	r.report.Policy = o.Policy.Fingerprint()
	return r, nil
}

// durable reports whether sessions outlive the process.
func (r *Replay) durable(process string) bool {
	driver, ok := r.drivers[process]
	return ok && driver != "memory" || !ok && r.fallback
}

// session returns the session of a record. If the session was opened before the log begins, its
// replay starts with this record.
func (r *Replay) session(e *trail.Entry, since time.Time) *session {
	s := r.sessions[e.Session]
	if s == nil {
		s = r.begin(e, since)
		s.partial = r.cut
		r.sessions[e.Session] = s
	}
	return s
}

// switchIn activates or deactivates a net in the given state.
func (r *Replay) switchIn(state *gate.State, net string, on bool) {
	if d, err := r.policy.Toggle(state, net, on); err == nil {
		state.Apply(d)
	}
}

// begin returns a new session for the record e. The session starts at the given time. It shares the
// global nets and the nets of its principal with other sessions.
func (r *Replay) begin(e *trail.Entry, since time.Time) *session {
	s := &session{state: r.policy.NewState(r.active), process: e.Process, calls: map[uint64]call{}, policies: map[string]bool{}}
	s.state.Apply(r.policy.Tick(s.state, since))
	for _, k := range [...]partKey{{gate.ScopePrincipal, e.Process, e.Principal}, {gate.ScopeGlobal, e.Process, ""}} {
		if r.durable(e.Process) {
			k.process = ""
		}
		p := r.part(k, since)
		if len(p.nets) == 0 {
			continue
		}
		p.owner++
		s.state.Owners[k.scope] = p.owner
		s.parts = append(s.parts, p)
	}
	return s
}

// part returns the shared state identified by k. If necessary, it creates this state, with the nets
// in their initial states.
func (r *Replay) part(k partKey, since time.Time) *part {
	if p := r.parts[k]; p != nil {
		return p
	}
	fresh := r.policy.NewState(r.active)
	fresh.Apply(r.policy.Tick(fresh, since))
	p := &part{}
	for i, n := range r.policy.Nets() {
		if n.Scope == k.scope {
			p.nets, p.data = append(p.nets, i), append(p.data, fresh.Nets[i])
		}
	}
	r.parts[k] = p
	return p
}

// Report summarizes the records replayed so far.
func (r *Replay) Report() Report {
	report := r.report
	report.Recorded, report.Rules, report.Reasons = slices.AppendSeq([]string{}, maps.Keys(r.fingerprints)), []RuleCount{}, []Reason{}
	slices.Sort(report.Recorded)
	for c, n := range r.rules {
		c.Count = n
		report.Rules = append(report.Rules, c)
	}
	slices.SortFunc(report.Rules, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Net, b.Net), strings.Compare(a.Now, b.Now), strings.Compare(a.Was, b.Was), strings.Compare(a.Rule, b.Rule))
	})
	for text, n := range r.reasons {
		report.Reasons = append(report.Reasons, Reason{text, n})
	}
	slices.SortFunc(report.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text))
	})
	return report
}

// inspect returns a netInfo for each net of the policy.
func (r *Replay) inspect(nets []gate.Net) (all []netInfo) {
	for i := range nets {
		n := &nets[i]
		info := netInfo{name: r.policy.Nets()[i].Name, opaque: admission.Opaque(n), advisory: n.Advisory, row: n.Row, mentions: gate.Tools(n.Free...)}
		info.always = n.Row || len(n.Phases) > 0 || n.Labels == nil && (n.Mapper != nil || len(n.Maps) > 0)
		info.read(r, n.Key)
		for k := range n.Transitions {
			t := &n.Transitions[k]
			info.read(r, t.Key)
			info.tools = append(info.tools, t.Tools...)
			info.mentions = append(append(info.mentions, t.Tools...), t.Unless...)
			info.mentions = append(info.mentions, list.Map(t.Tools, func(u gate.Tool) gate.Tool { return gate.Tool{Name: u.Except} })...)
		}
		if n.Sum != nil {
			info.sums = append(info.sums, audit.Bounded(n.Sum.Field.Name()))
		}
		all = append(all, info)
	}
	return all
}

func (n *netInfo) read(r *Replay, key []gate.Field) {
	for _, f := range key {
		name := audit.Bounded(r.reads.Name(f))
		if f.Result {
			n.results = append(n.results, name)
		} else {
			n.keys = append(n.keys, name)
		}
	}
}
