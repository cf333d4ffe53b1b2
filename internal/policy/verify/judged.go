package verify

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// Nets can judge the arguments of calls, and what they say is not looked at in a
// search: validators, keys, equal calls in a row, sums. A run that is shown to refute
// something is played with what they say: where they refuse the arguments, others are
// tried.

// maxRehearsed bounds the calls of a run that is played.
const maxRehearsed = 20_000

// judging reports whether some net that is enforced judges arguments.
func (m *prover) judging() bool {
	return slices.ContainsFunc(m.Nets, func(n *explore.Net) bool {
		return !n.Info.Shadow && (n.Info.Validate != nil || n.Info.Row || n.Info.Sum != nil || n.Keyed())
	})
}

// rows reports whether some net that is enforced counts equal calls in a row.
func (m *prover) rows() bool {
	return slices.ContainsFunc(m.Nets, func(n *explore.Net) bool { return !n.Info.Shadow && n.Info.Row })
}

// judged is the proof, or that it is unknown where its run has arguments that
// nets refuse and no others were found.
func (m *prover) judged(p Proof) Proof {
	p.Witness, _ = m.accepted(p.Witness)
	run, why := m.accepted(p.Counterexample)
	if why != "" {
		return Proof{Assertion: p.Assertion, Why: why}
	}
	p.Counterexample = run
	return p
}

// accepted is the run with arguments that the nets accept. Where none were
// found, why says of what; the run is as it was then.
func (m *prover) accepted(t Trace) (run Trace, why string) {
	if !m.judging() || len(t) == 0 {
		return t, ""
	}
	return m.rehearsed(t)
}

// rehearsed is the run with arguments that the nets accept, as it was played.
func (m *prover) rehearsed(t Trace) (run Trace, why string) {
	r := &rehearsal{prover: m, session: gate.NewSession(m.policy, gate.SessionOptions{Time: time.Unix(0, 0)}), now: time.Unix(0, 0), numbers: make(map[int]uint64), results: make(map[int]string)}
	run = slices.Clone(t)
	if m.rows() {
		run = apart(run)
	}
	for i := range run {
		if why := r.play(&run[i]); why != "" {
			return t, why
		}
	}
	return run, ""
}

// maxApart bounds the calls of a step that are written one by one.
const maxApart = 64

// apart writes calls one by one that a step makes several times, so that they can have
// different arguments.
func apart(t Trace) Trace {
	var out Trace
	number := 0
	at := make(map[int]int)
	for _, s := range t {
		if s.Ends {
			s.Call = at[s.Call]
			out = append(out, s)
			continue
		}
		times := s.Times
		if times > maxApart || s.Wait > 0 {
			times = 0
		}
		for range max(1, times) {
			number++
			one := s
			at[s.Call], one.Call = number, number
			if times > 0 {
				one.Times = 0
				out = append(out, one, Step{Call: number, Ends: true, Outcome: gate.Success})
			} else {
				out = append(out, one)
			}
		}
	}
	return out
}

// A rehearsal is a session in which a run is played as the gate decides.
type rehearsal struct {
	prover  *prover
	session *gate.Session
	now     time.Time
	numbers map[int]uint64 // of calls, by their number in the run
	results map[int]string // likewise
	played  int
}

// play plays one step, with other arguments where those of the step are not
// accepted. It returns why it cannot.
func (r *rehearsal) play(s *Step) (why string) {
	switch {
	case s.Wait > 0:
		r.now = r.now.Add(s.Wait * time.Duration(max(1, s.Times)))
		r.session.Tick(r.now)
		return ""
	case s.Ends:
		r.end(s.Call, s.Outcome)
		return ""
	}
	for range max(1, s.Times) {
		if r.played++; r.played > maxRehearsed {
			return explore.WhyLong
		}
		number, refused := r.admit(s)
		if refused != nil {
			return whyRefused(s, refused)
		}
		r.numbers[s.Call], r.results[s.Call] = number, s.Result
		if s.Times > 0 {
			r.end(s.Call, gate.Success)
		}
	}
	return ""
}

func (r *rehearsal) end(call int, o gate.Outcome) {
	e := gate.End{Outcome: o, Time: r.now}
	if r.results[call] != "" {
		e.Result = []byte(r.results[call])
	}
	r.session.End(r.numbers[call], e)
}

func whyRefused(s *Step, r *gate.Refusal) string {
	var net string
	if len(r.Blocks) > 0 {
		net = r.Blocks[0].Net
	}
	return fmt.Sprintf("it does not hold if the net %s accepts arguments of %s, and none were found", net, s.Name)
}

// admit makes the call of a step with the consent of whoever is asked, and
// changes its arguments where the nets accept others alone.
func (r *rehearsal) admit(s *Step) (number uint64, refused *gate.Refusal) {
	if number, refused = r.decide(s.Tool, s.Args); refused == nil {
		return number, nil
	}
	for _, args := range r.prover.others(s, refused, r.played) {
		if number, again := r.decide(s.Tool, args); again == nil {
			s.Args = args
			return number, nil
		}
	}
	return 0, refused
}

func (r *rehearsal) decide(tool, args string) (number uint64, refused *gate.Refusal) {
	c := r.prover.call(tool, args)
	c.Time = r.now
	d := r.session.Decide(c, nil)
	if ask, ok := d.(*gate.Ask); ok {
		d = r.session.Decide(c, ask.Grant())
	}
	switch d := d.(type) {
	case *gate.Allow:
		return d.Ticket.Number, nil
	case *gate.Refusal:
		return 0, d
	}
	return 0, &gate.Refusal{}
}

func (m *prover) call(tool, args string) gate.Call {
	c := gate.Call{Tool: tool, Also: m.also[tool]}
	if args != "" {
		c.Args = []byte(args)
	}
	return c
}

// others are arguments with which a net may let the call pass that refused it, where
// the call has the same names with them: members that the conditions of nets name, or
// one that no net reads.
func (m *prover) others(s *Step, refused *gate.Refusal, number int) []string {
	var tried []string
	switch {
	case refused.Kind == gate.KindValidation:
		tried = callclass.Extended(s.Args, m.conditions)
	case m.rows():
		tried = callclass.Numbered(s.Args, number)
	}
	names := m.policy.Names(m.call(s.Tool, s.Args))
	return slices.DeleteFunc(tried, func(args string) bool {
		return !reflect.DeepEqual(m.policy.Names(m.call(s.Tool, args)), names)
	})
}
