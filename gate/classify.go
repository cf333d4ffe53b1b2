package gate

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
)

// judgement collects the verdicts of the nets on one call in one state. Before
// [judgement.classify], only policy and call must be set and [judgement.name] called.
type judgement struct {
	policy *Policy
	call   *Call
	state  *State
	tools  []naming.Label // physical names
	labels []naming.Label // labels of the policy, physical names first
	set    listing.Set    // nets that might apply to the call

	keyed *keyedCall // nil: no net with a key applies, or the arguments are unknown
	spare *keyedCall // cleared; for reuse as keyed

	findings    []finding // in order; without nets that abstain and do not move
	room        []choice  // empty, with capacity for the choices of the next net
	blocked     bool
	manual      bool
	known       bool       // an active net gates a certain name, or has it among its free tools
	withoutMaps bool       // without names from maps
	replayed    bool       // the call was made regardless of the verdicts
	offered     []Call     // tools that can be called; nil: those of the state
	world       world      // the default is acting
	row         string     // see [argument.Fingerprint]; empty: no net counts rows
	ticked      []NetDelta // changes by the clock in the evaluated nets
	shadows     []subject  // nets in shadow mode that apply to the call

	// Preallocated space for the usual case, so that a decision needs few allocations.
	waived []naming.Label // uncertain names of the call that a person is asked about

	toolRoom    [3]naming.Label
	labelRoom   [4]naming.Label
	findingRoom [5]finding
	choiceRoom  [5]choice
	scratchRoom [8]int
	setRoom     [4]uint64
}

// subject is a net that applies to a call, with its state at the time of the call. A net with a key
// has one subject for each value of the call, and one without a value for the parts that concern no
// value.
type subject struct {
	net   *net
	data  *NetData
	keyed *keyContext // nil: the net has no key, or the arguments are unknown
}

// finding is the verdict of one net, or of one net for one value.
type finding struct {
	subject
	labels    []naming.Label // names that this net gives the call
	choices   []choice       // empty if the net blocks
	special   *special       // nil: no special parts
	label     int32          // index of the first blocked label
	kind      VerdictKind    // Abstain only if the net moves nevertheless
	restarts  bool           // data is the initial state, because the call ends a row
	doubtful  bool           // blocked because the name is weak
	broken    bool           // the mapper failed
	addsValue bool           // concerns a value without an entry in the state
}

// choice is a transition chosen for a name.
type choice struct {
	transition int
	name       string
}

// Classify returns the verdict of each active net on the call in the state s, in the order of the
// policy and including nets that abstain.
func (p *Policy) Classify(s *State, c Call) (vs []Verdict) {
	j := &p.Prepare(c).judgement
	j.classify(s)
	j.yield()
	shadow := j.evaluateShadow(enforced)
	shadow.yield()
	said := verdicts(j, shadow)
	for i, n := range p.nets {
		switch {
		case len(said) > 0 && said[0].Net == n.Name:
			vs, said = append(vs, said[0]), said[1:]
		case s.Nets[i].Active:
			vs = append(vs, Verdict{Net: n.Name, Rule: n.Rule, Shadow: n.Shadow})
		}
	}
	return vs
}

// name computes the labels of the call, which do not depend on the state.
func (j *judgement) name() {
	j.tools = naming.Physical(j.call, j.toolRoom[:0])
	j.row = j.policy.Row(j.call)
	if j.withoutMaps {
		j.labels = naming.WithPatterns(append(j.labelRoom[:0], j.tools...), j.policy.names.Patterns())
	} else {
		j.labels = j.policy.names.Labels(j.call, j.tools, j.labelRoom[:0])
	}
	j.set = j.policy.index.Find(j.labels, j.setRoom[:])
	j.plan()
}

// classify evaluates every active net that might apply to the call, and records what spoils the
// evidence of inactive ones.
func (j *judgement) classify(s *State) {
	j.state = s
	j.findings, j.room = j.findings[:0], j.choiceRoom[:0]
	switch n := j.set.Len(); {
	case n <= cap(j.findings): // enough capacity from the previous call
	case n <= len(j.findingRoom):
		j.findings = j.findingRoom[:0]
	default:
		j.findings = make([]finding, 0, n)
	}
	j.blocked, j.manual, j.known, j.ticked, j.shadows = false, false, false, nil, nil
	if j.keyed != nil {
		j.keyed.carried, j.keyed.next = j.keyed.carried[:0], 0
	}
	for word, nets := range j.set {
		for ; nets != 0; nets &= nets - 1 {
			n := j.policy.nets[word*64+bits.TrailingZeros64(nets)]
			switch data := s.Nets[n.index]; {
			case !data.Active && !n.spoils:
			case len(n.keys) > 0:
				j.considerKeyed(n, data)
			default:
				j.consider(subject{net: n, data: j.now(n, "", data, nil)})
			}
		}
	}
}

// consider evaluates the net, or, if it is in shadow mode, postpones it until the others have
// agreed.
func (j *judgement) consider(s subject) {
	if s.net.Shadow {
		j.shadows = append(j.shadows, s)
		return
	}
	j.evaluate(s)
}

// now returns the state of the net at the time of the call. For the state of a value, base is the
// default state.
func (j *judgement) now(n *net, key string, data, base *NetData) *NetData {
	if !n.moving {
		return data
	}
	moved := n.advanced(data, base, j.call.Time)
	if moved != data {
		j.ticked = append(j.ticked, NetDelta{Net: n.index, Key: key, Data: moved})
	}
	return moved
}

// evaluate adds the verdict of one net.
func (j *judgement) evaluate(s subject) {
	f := finding{subject: s, labels: j.labels, choices: j.room, label: -1}
	n := s.net
	if n.Labels == nil {
		var ok bool
		f.labels, ok = j.ownLabels(s)
		f.broken = !ok
	}
	if n.spoils {
		f.findSpoilers(j.call)
	}
	if s.data.Active {
		f.restartRow(j.row)
		j.judge(&f)
	}
	if f.kind != Abstain || f.moves() {
		j.findings = append(j.findings, f)
	}
}

// judge computes the verdict of an active net.
func (j *judgement) judge(f *finding) {
	j.known = j.known || f.net.MatchFirst && f.net.Labels == nil && f.net.listing.Knows(j.tools) || f.net.listing.Knows(f.labels) || f.net.inPhase(f.labels)
	switch {
	case f.broken:
		f.kind = Blocked
	case f.plan() != nil && f.value() == nil:
		f.judgeBase()
	default:
		f.judge(j.scratchRoom[:0])
		if f.plan() != nil && len(f.plan().watches) > 0 {
			f.judgeWatches()
		}
		if len(f.net.Phases) > 0 {
			f.applyPhases(j.call)
		}
		if f.net.Sum != nil {
			f.checkSum(j.call)
		}
	}
	if len(f.spoils()) > 0 {
		f.kind = max(f.kind, Gated)
	}
	j.room = f.choices[len(f.choices):]
	j.blocked = j.blocked || f.kind == Blocked
	j.manual = j.manual || f.net.manual && f.manual()
}

// ownLabels is like [judgement.own], but uses the result that a plan has cached.
func (j *judgement) ownLabels(s subject) ([]naming.Label, bool) {
	if s.plan() != nil {
		return s.plan().labels, s.plan().ok
	}
	return j.own(s.net)
}

// own returns the names that a net without Labels gives the call.
func (j *judgement) own(n *net) ([]naming.Label, bool) {
	if j.withoutMaps && n.Mapper == nil {
		return naming.WithPatterns(slices.Clip(j.tools), n.own.Patterns), true
	}
	return n.own.Labels(j.call, j.tools)
}

// judge chooses transitions for the names of the call, one name after the other.
func (f *finding) judge(room []int) {
	scratch := scratch{net: f.net, marking: f.data.Marking, room: room}
	spared := f.net.listing.Spared(f.labels)
	observes, forbids := false, false // whether an observer and another transition were chosen
	for i := range f.labels {
		lists, free := f.net.listing.Lookup(&f.labels[i])
		if free {
			f.kind = max(f.kind, Free)
			continue
		}
		lists = listing.Without(lists, spared)
		if f.keyed != nil {
			lists = f.withValue(lists)
		}
		if len(lists) == 0 {
			continue
		}
		t := f.net.candidate(lists, f.data, !f.net.hasEvidence || f.net.listing.OnlyObserve(lists))
		switch {
		case t < 0 && f.net.listing.OnlyObserve(lists) && !f.data.Stuck:
		case t < 0:
			f.block(i)
		case f.net.Transitions[t].Observe:
			// A weak name is not evidence.
			if !f.labels[i].Weak && !f.chosen(t) && !f.spoiled(t) && scratch.take(t) {
				observes = true
				f.choose(t, i)
			}
		case f.chosen(t):
		case f.labels[i].Weak && f.net.progress[t]:
			f.blockDoubtful(i)
		case !scratch.take(t):
			f.block(i)
		default:
			forbids = true
			f.choose(t, i)
		}
	}
	if f.kind == Blocked {
		f.choices = f.choices[:0]
		return
	}
	if forbids && observes { // a call must not refill its own limit
		f.choices = slices.DeleteFunc(f.choices, func(c choice) bool { return f.net.Transitions[c.transition].Observe })
	}
	if forbids && f.net.hasEvidence {
		f.chooseEvidence(spared)
	}
}

// candidate returns the first of the transitions that is enabled, or -1. Transitions with Evidence
// are candidates only if observed is set, that is, if all transitions are observers: a call is
// never its own evidence. Spoiling transitions are never candidates, because they fire after the
// others on the remaining tokens.
func (n *net) candidate(lists []int, data *NetData, observed bool) int {
	if data.Stuck {
		return -1
	}
	for _, t := range lists {
		if def := &n.Transitions[t]; !def.Spoils && (observed || !def.Evidence) && n.net.Transitions[t].Enabled(data.Marking) {
			return t
		}
	}
	return -1
}

// chosen reports whether the transition was chosen for an earlier name.
func (f *finding) chosen(t int) bool {
	return slices.ContainsFunc(f.choices, func(c choice) bool { return c.transition == t })
}

func (f *finding) choose(t, label int) {
	f.kind = max(f.kind, Gated)
	f.choices = append(f.choices, choice{transition: t, name: f.labels[label].Text})
}

// moves reports whether an admitted call moves the net. This is possible even if the net blocks: it
// might yield or be in shadow mode.
func (f *finding) moves() bool {
	return len(f.choices) > 0 || len(f.spoils()) > 0 || f.restarts || f.missed() != 0
}

// blockFor blocks the call for a reason other than the marking.
func (f *finding) blockFor(reason string, retry time.Duration) {
	f.kind, f.label, f.choices = Blocked, 0, f.choices[:0]
	s := f.makeSpecial()
	s.reason, s.retry = reason, retry
}

// manual reports whether a chosen transition requires approval.
func (f *finding) manual() bool {
	return slices.ContainsFunc(f.choices, func(c choice) bool { return f.net.Transitions[c.transition].Manual })
}

// blockDoubtful blocks a weak name that would let the net progress.
func (f *finding) blockDoubtful(label int) {
	f.doubtful = f.doubtful || f.kind != Blocked
	f.block(label)
}

func (f *finding) block(label int) {
	if f.kind != Blocked {
		f.kind, f.label = Blocked, int32(label)
	}
}

// scratch is a copy of the marking. The transitions for the names of one call take their tokens
// from it, so that two names cannot spend the same token.
type scratch struct {
	net     *net
	marking []int // read-only until own is set
	room    []int
	own     bool
}

// take removes the tokens that a firing of t removes. It reports whether t was enabled.
func (s *scratch) take(t int) bool {
	if !s.net.net.Transitions[t].Enabled(s.marking) {
		return false
	}
	def := &s.net.Transitions[t]
	if def.Observe && def.Deferred {
		return true
	}
	if !s.own {
		s.marking = append(s.room, s.marking...)
		s.own = true
	}
	arcs := s.net.lasting[t]
	if def.Deferred {
		arcs = s.net.net.Transitions[t].In
	}
	for _, a := range arcs {
		s.marking[a.Place] -= a.Weight
	}
	return true
}

// verdicts returns the verdict of each net, including nets in shadow mode, for callers of the
// package. shadow may be nil.
func verdicts(j, shadow *judgement) []Verdict {
	all := j.findings
	if shadow != nil && len(shadow.findings) > 0 {
		all = slices.Concat(all, shadow.findings)
		slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(a.net.index, b.net.index) })
	}
	if len(all) == 0 {
		return nil
	}
	vs := make([]Verdict, 0, len(all))
	for i := range all {
		if all[i].kind == Abstain {
			continue
		}
		v := all[i].verdict()
		switch last := len(vs) - 1; {
		case last < 0 || vs[last].Net != v.Net:
			vs = append(vs, v)
		case v.Kind > vs[last].Kind:
			vs[last] = v
		}
	}
	return vs
}

func (f *finding) verdict() Verdict {
	v := Verdict{Net: f.net.Name, Kind: f.kind, Manual: f.manual(), Rule: f.net.Rule, Shadow: f.net.Shadow, Key: f.keyValues()}
	switch {
	case len(f.choices) > 0:
		v.Transition = f.net.Transitions[f.choices[0].transition].Name
	case f.kind == Gated:
		v.Transition = f.net.Transitions[f.spoils()[0].transition].Name
	}
	return v
}
