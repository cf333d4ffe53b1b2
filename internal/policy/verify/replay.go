package verify

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A replay replays a run in a gate session.
type replay struct {
	prover  *prover
	session *gate.Session
	now     time.Time
	numbers map[int]uint64 // number of each call in the session; keyed by the call's number in the original run
	results map[int]string // result of each call; keyed by the call's number in the original run
	played  int

	run    Trace               // the part of the run replayed so far
	at     map[int]int         // number of each call in the replayed run; keyed by the call's number in the original run
	asked  map[int][]gate.Step // approvals requested for each call; keyed by the call's number in the replayed run
	steps  []gate.Step         // approvals requested by the last decision
	calls  int                 // number of calls in the replayed run
	values callclass.Values
	others int // number of additional key values used so far
}

func (m *prover) newReplay(t Trace) *replay {
	start := time.Unix(0, 0)
	r := &replay{
		prover: m, session: gate.NewSession(m.policy, gate.SessionOptions{Time: start}), now: start,
		numbers: make(map[int]uint64), results: make(map[int]string), at: make(map[int]int), asked: make(map[int][]gate.Step),
	}
	begun := list.Filter(t, func(s Step) bool { return s.class != nil })
	r.values = callclass.CommonValues(list.Map(begun, func(s Step) *callclass.Class { return s.class }))
	return r
}

// play replays a step. If the step's arguments are refused, play tries others. It returns "" if the
// gate accepts the step, and otherwise the reason for the refusal.
func (r *replay) play(s Step) (why string) {
	switch {
	case s.Wait > 0:
		r.now = r.now.Add(s.Wait * time.Duration(max(1, s.Times)))
		r.session.Tick(r.now)
		r.steps = nil
		r.add(s)
		return ""
	case s.Ends:
		r.end(r.numbers[s.Call], r.results[s.Call], s.Outcome)
		s.Call = r.at[s.Call]
		r.run = append(r.run, s)
		return ""
	}
	for k := range max(1, s.Times) {
		if r.played++; r.played > maxReplayed {
			return explore.WhyLong
		}
		number, refused := r.admit(&s, k == 0)
		if refused != nil {
			return whyRefused(&s, refused)
		}
		r.numbers[s.Call], r.results[s.Call] = number, s.Result
		if s.Times > 0 {
			r.end(number, s.Result, gate.Success)
		}
	}
	r.add(s)
	return ""
}

// add appends a replayed step: the beginning of a call or the passage of time.
func (r *replay) add(s Step) {
	r.calls++
	r.at[s.Call], s.Call = r.calls, r.calls
	r.asked[s.Call] = r.steps
	r.run = append(r.run, s)
}

func (r *replay) end(number uint64, result string, o gate.Outcome) {
	e := gate.End{Outcome: o, Time: r.now}
	if result != "" {
		e.Result = []byte(result)
	}
	r.session.End(number, e)
}

func whyRefused(s *Step, r *gate.Refusal) string {
	var net string
	if len(r.Blocks) > 0 {
		net = r.Blocks[0].Net
	}
	return fmt.Sprintf("refuting it takes a call to %s that the net %s accepts, and it accepted none of those that were tried", s.Name, net)
}

// admit makes the call that begins in step s and grants all approvals. If vary is true and the nets
// refuse the step's arguments, admit tries other arguments.
func (r *replay) admit(s *Step, vary bool) (number uint64, refused *gate.Refusal) {
	if number, refused = r.decide(s.Tool, s.Args); refused == nil || !vary {
		return number, refused
	}
	for _, args := range r.prover.alternativeArgs(s, refused, r.played) {
		if number, again := r.decide(s.Tool, args); again == nil {
			s.Args = args
			return number, nil
		}
	}
	if s.hasOther() {
		if number, ok := r.admitRenewed(s); ok {
			return number, nil
		}
	}
	return 0, refused
}

// maxOthers is the maximum number of additional key values per run.
const maxOthers = 100

// admitRenewed makes the call in step s with an untracked key value. It first tries the values that
// it gave to earlier calls of the run, and then a new value. If the gate refuses all of them,
// admitRenewed first makes the calls that lead up to this call, all with the new value.
func (r *replay) admitRenewed(s *Step) (number uint64, ok bool) {
	for n := 1; n <= min(r.others+1, maxOthers); n++ {
		args, ok := s.class.ArgsWithValue(r.values, n)
		if !ok {
			return 0, false
		}
		if number, refused := r.decide(s.Tool, args); refused == nil {
			s.Args, r.others = args, max(r.others, n)
			return number, true
		}
	}
	if r.others == maxOthers || s.class.Mixed() {
		return 0, false
	}
	r.others++
	return r.admitLed(s, s.class.RenewTracked(r.values, r.others))
}

// admitLed makes the calls that lead up to the call in step s, and then the call itself. All of
// these calls get the given values.
func (r *replay) admitLed(s *Step, values callclass.Values) (number uint64, ok bool) {
	for left := r.prover.wayTo(s.class); len(left) > 0; left = left[1:] {
		c := left[0]
		args, result := c.Fill(values)
		number, refused := r.decide(c.Tool, args)
		if refused != nil {
			return 0, false
		}
		if len(left) == 1 {
			s.Args, s.Result = args, result
			return number, true
		}
		seen := c.ClassUnder(s.class)
		if seen == nil {
			return 0, false
		}
		r.add(Step{Tool: c.Tool, Name: c.Name(), Args: args, Result: result, class: seen})
		r.end(number, result, gate.Success)
		r.run = append(r.run, Step{Call: r.calls, Ends: true, Outcome: gate.Success})
	}
	return 0, false
}

// wayTo returns the classes of the calls that lead to a call of class s. The last class is that of
// the call itself, with the tracked value in place of any other key value. All other calls have the
// tracked value as well. If no such calls are known, wayTo returns nil.
func (m *prover) wayTo(s *callclass.Class) []*callclass.Class {
	plan := m.OneValue().Plan(explore.Tagger(func(c *callclass.Class) bool { return c.Owns(s) }), true)
	if plan.Result != explore.Refuted {
		return nil
	}
	return explore.ClassesOf(plan.Moves)
}

func (r *replay) decide(tool, args string) (number uint64, refused *gate.Refusal) {
	c := r.prover.call(tool, args)
	c.Time, r.steps = r.now, nil
	d := r.session.Decide(c, nil)
	if ask, ok := d.(*gate.Ask); ok {
		r.steps = ask.Steps
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

// meets reports whether the replayed run meets the query, according to the query's monitor. It
// returns true without checking if the query has no monitor or is about calls that never end.
func (r *replay) meets(q *explore.Query) bool {
	if q.Start == nil || q.Stay != nil {
		return true
	}
	mon, tags := uint32(0), make(map[int]uint8)
	for _, s := range r.run {
		if s.Ends {
			if s.Outcome == gate.Success && q.Done != nil {
				mon = q.Done(mon, tags[s.Call])
			}
			continue
		}
		tag, hit := q.Tag(s.class), false
		tags[s.Call] = tag
		for range max(1, s.Times) {
			if mon, hit = q.Start(mon, tag, r.asks(q, s.Call)); hit {
				return true
			}
			if s.Times > 0 && q.Done != nil {
				mon = q.Done(mon, tag)
			}
		}
	}
	return false
}

// asks reports whether an approval that counts for q was requested before the given call.
func (r *replay) asks(q *explore.Query, call int) bool {
	return slices.ContainsFunc(r.asked[call], func(s gate.Step) bool {
		return q.Asks == nil || q.Asks(&gate.Transition{Approvals: s.Approvals, Via: s.Via})
	})
}

// maxReplayed is the maximum number of calls in a replayed run.
const maxReplayed = 20_000

// hasOther reports whether the step begins a call with a key value other than the one that the
// proof tracks.
func (s *Step) hasOther() bool { return s.class != nil && s.class.HasOther() }

// alternativeArgs returns arguments to try after a net has refused the arguments of step s. It adds
// members that do not change the call's names. After a refusal by a validator, it adds members used
// in the nets' conditions. Otherwise, if a net counts identical calls, it adds a number so that the
// call differs from earlier calls.
func (m *prover) alternativeArgs(s *Step, refused *gate.Refusal, number int) []string {
	var tried []string
	switch {
	case refused.Kind == gate.KindValidation:
		tried = callclass.Extend(s.Args, m.conditions)
	case m.rows:
		tried = callclass.AddNumber(s.Args, number)
	}
	names := m.policy.Names(m.call(s.Tool, s.Args))
	return slices.DeleteFunc(tried, func(args string) bool {
		return !reflect.DeepEqual(m.policy.Names(m.call(s.Tool, args)), names)
	})
}

func (m *prover) call(tool, args string) gate.Call {
	c := gate.Call{Tool: tool, Also: m.also[tool]}
	if args != "" {
		c.Args = []byte(args)
	}
	return c
}
