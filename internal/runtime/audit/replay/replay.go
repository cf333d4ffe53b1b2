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

// Options configures a replay. Policy is required.
type Options struct {
	Policy  *gate.Policy
	Active  []string                   // nets that are active at the first record; nil: all
	Where   func(gate.Position) string // formats a position for the report; nil: the default format
	Durable bool                       // session state outlives a process, unless the log says otherwise
	Partial bool                       // records before the first were left out
	Whole   time.Time                  // time since which no records were removed; zero: no records were removed
	Differs func(*Divergence)          // called for each differing decision; may be nil
}

// A Replay repeats a log's decisions, record by record ([Replay.Add]).
//
// The replayed policy determines a call's effect. A call that this policy refuses fires no net,
// even if the log has an outcome for it. A call that the policy allows but the log refuses fires no
// net either, because its outcome is unknown.
type Replay struct {
	original *gate.Policy
	policy   *gate.Policy // rebuilt to read the current record
	active   []string
	where    func(gate.Position) string
	reads    *reading.Reader
	current  *recordedCall
	nets     []netInfo
	prepared gate.Prepared
	fallback bool // see Options.Durable

	sessions       map[string]*session
	parts          map[partKey]*part
	drivers        map[string]string         // driver of each process
	policies       map[string]recordedPolicy // recorded policies by fingerprint
	writers        map[string]bool           // database writers with at least one record that was read
	policyRecorded map[string]bool           // processes whose policy is recorded
	cut            bool                      // the log does not begin with the first record
	since          time.Time                 // see Options.Whole
	differs        func(*Divergence)         // may be nil

	report       Report
	fingerprints map[string]bool
	rules        map[RuleCount]int
	reasons      map[string]int
}

// A recordedPolicy is a policy's description in the log.
type recordedPolicy struct {
	fields, results, maps, actions map[string]bool

	full bool // the records under this policy contain all arguments
}

// New returns a replay that uses the policy in the options.
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

// durable reports whether session state outlives the process.
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

// switchIn activates or deactivates a net in one state if necessary.
func (r *Replay) switchIn(state *gate.State, net string, on bool) {
	if d, err := r.policy.Toggle(state, net, on); err == nil {
		state.Apply(d)
	}
}

// begin creates the session of a record.
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

// part returns the shared state with the given key, creating it if necessary.
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

// Report returns a summary of the records so far.
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

// inspect returns the parts of a record that each net needs.
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
