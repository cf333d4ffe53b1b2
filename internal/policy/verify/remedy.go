package verify

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A RemedyFinder finds the calls that make a refused call possible. It is safe for concurrent use.
type RemedyFinder struct {
	policy *gate.Policy
	calls  callclass.Options
	also   map[string][]gate.Name // for each known tool, its other names; nil if the tools are unknown

	mu    sync.Mutex
	model *explore.Model
}

// A Remedy is the result of a search for calls that make a refused call possible.
type Remedy struct {
	Found bool   // whether the refused call is admitted after Steps
	None  bool   // whether the refused call stays impossible after any sequence of successful calls
	Steps Trace  // the calls to make before the refused call; each must succeed before the next begins
	Why   string // if neither Found nor None is set, why the search was inconclusive

	// Asks contains the number of people who must approve each step, keyed by the step's index. The
	// refused call has the index len(Steps).
	Asks map[int]int

	Shared bool              // whether some refusing net also counts calls in other sessions
	valued map[int]bool      // indexes of the steps whose Args contain key values
	madeUp map[string]string // for each synthesized tool in Steps, the pattern that it stands for
}

// remedyStates is the maximum number of states visited per refusal. It is low because the client is
// waiting for the response.
const remedyStates = 2000

// remedyRoom limits the number of states that searches visit in one model, and thus the model's
// memory use. Once the limit is exceeded, the next search uses a new model.
const remedyRoom = 1_000_000

// NewRemedyFinder returns a RemedyFinder for p. It uses only the options Tools and Lacks. If Tools
// is set, remedies contain no other tools.
func NewRemedyFinder(p *gate.Policy, o Options) *RemedyFinder {
	f := &RemedyFinder{policy: p, calls: callclass.Options{Tools: o.Tools, Lacks: o.Lacks}}
	if o.Tools != nil {
		f.also = callclass.Also(o.Tools)
	}
	return f
}

// Remedy looks for the shortest sequence of calls that makes the call c possible. r is the policy's
// refusal of c in state s. If the nets read several key values from c, the sequence might not be
// the shortest. Remedy does not modify s.
func (f *RemedyFinder) Remedy(s *gate.State, c gate.Call, r *gate.Refusal) Remedy {
	switch r.Kind {
	case gate.KindBlocked, gate.KindStateChanged:
	case gate.KindDefault:
		return Remedy{None: true}
	default:
		return Remedy{Why: "no other call changes what was refused"}
	}
	if awaited(r) {
		return Remedy{Why: "a call in progress will provide the missing tokens"} // the refusal already states this reason
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.model == nil || f.model.States > remedyRoom {
		f.model = explore.New(f.policy, f.calls, explore.Options{States: remedyStates})
		if f.model.Keyed() {
			f.model = f.model.OneValue()
		}
	}
	refusing := f.refusingNets(r)
	if slices.ContainsFunc(refusing, func(n int) bool { return f.model.Nets[n].Info.Row }) {
		return Remedy{Why: "any other call starts the count again"} // the refusal already states this reason
	}
	for _, b := range r.Blocks {
		if n := f.netIndex(b.Net); n >= 0 && f.model.Nets[n].Keyed() && b.Key == nil {
			return Remedy{Why: "the call itself has no value that the net " + b.Net + " can read"}
		}
	}
	t := &remedySearch{finder: f, model: f.model, state: s, call: c, goal: f.model.Calls.ClassOf(f.policy, c)}
	t.setValues(r)
	remedy := t.find(refusing)
	remedy.Shared = slices.ContainsFunc(refusing, func(n int) bool { return f.policy.Nets()[n].Scope != gate.ScopeSession })
	remedy.madeUp = f.madeUpTools(&remedy)
	return remedy
}

// awaited reports whether each refusing net waits for an open call that would produce the missing
// tokens by succeeding.
func awaited(r *gate.Refusal) bool {
	return len(r.Blocks) > 0 && !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool {
		return !slices.ContainsFunc(b.Holds, func(h gate.Holder) bool { return h.Brings })
	})
}

// madeUpTools maps the synthesized tools in r.Steps to the patterns that they stand for. It returns
// nil if the existing tools are known.
func (f *RemedyFinder) madeUpTools(r *Remedy) map[string]string {
	if f.also != nil {
		return nil
	}
	made := make(map[string]string)
	for i, step := range r.Steps {
		if step.Name != step.Tool || step.Args != "" && !r.valued[i] {
			continue // a map entry or an action rule determines the name or arguments, so the tool was not synthesized
		}
		if pattern, named := f.patternOf(step.Tool); !named && pattern != "" {
			made[step.Tool] = pattern
		}
	}
	return made
}

// patternOf returns the longest pattern that matches the tool, and reports whether a rule names the
// tool itself.
func (f *RemedyFinder) patternOf(tool string) (longest string, named bool) {
	for _, n := range f.policy.Nets() {
		for _, t := range n.Transitions {
			for _, listed := range t.Tools {
				switch {
				case listed.Name == tool:
					return "", true
				case listed.Kind == gate.Glob && toolnet.MatchGlob(listed.Name, tool) && len(listed.Name) > len(longest):
					longest = listed.Name
				}
			}
		}
	}
	return longest, false
}

// netIndex returns the index of the given net, or -1 if the policy has no such net.
func (f *RemedyFinder) netIndex(net string) int {
	return slices.IndexFunc(f.policy.Nets(), func(n gate.NetInfo) bool { return n.Name == net })
}

// refusingNets returns the indexes of the nets that refused the call.
func (f *RemedyFinder) refusingNets(r *gate.Refusal) []int {
	return list.Indexes(f.policy.Nets(), func(n gate.NetInfo) bool {
		return slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Net == n.Name })
	})
}

// A remedySearch is a search for the remedy of one refused call.
type remedySearch struct {
	finder *RemedyFinder
	model  *explore.Model
	state  *gate.State
	call   gate.Call
	goal   *callclass.Class
	values callclass.Values // values of the nets' keys
	done   Remedy           // remedy found so far, for other key values of the call
	rounds int
}

// setValues sets t.values to the key values of the call: those in the refusal r and those that the
// nets read from the call in the current state.
func (t *remedySearch) setValues(r *gate.Refusal) {
	t.values = callclass.Values{}
	take := func(net string, key []gate.KeyValue) {
		if n := t.finder.netIndex(net); n >= 0 && len(key) > 0 {
			t.model.Calls.RecordKey(&t.values, n, key)
		}
	}
	if !t.model.Keyed() {
		return
	}
	for _, b := range r.Blocks {
		take(b.Net, b.Key)
	}
	for _, v := range t.finder.policy.Classify(t.state, t.call) {
		take(v.Net, v.Key)
	}
}

// states returns the state of each net. For a net with a key, this is the state for the key values
// of the search.
func (t *remedySearch) states() []*gate.NetData {
	states := slices.Clone(t.state.Nets)
	for i, n := range t.model.Nets {
		if key, ok := t.model.Calls.KeyText(t.values, i); ok && n.Keyed() {
			if d := states[i].Values.Get(key); d != nil {
				states[i] = d
			}
		}
	}
	return states
}

// maxRounds is the maximum number of times to extend a remedy because the call has another key
// value.
const maxRounds = 8

// continueFrom extends a remedy that is not sufficient. s is the state after the steps of the
// remedy, and stopped is the refusal of the call in that state. continueFrom gives up if no key
// value caused the refusal, if the remedy has no steps, or if the remedy was already extended
// maxRounds times. The second result is then false.
func (t *remedySearch) continueFrom(s *gate.State, so Remedy, stopped *gate.Refusal) (Remedy, bool) {
	keyed := slices.ContainsFunc(stopped.Blocks, func(b gate.Block) bool { return b.Key != nil })
	if t.rounds++; !keyed || len(so.Steps) == 0 || t.rounds > maxRounds {
		return Remedy{}, false
	}
	next := *t
	next.state, next.done = s, so
	next.setValues(stopped)
	return next.find(t.finder.refusingNets(stopped)), true
}

// find looks for a plan that the gate accepts. A plan is a sequence of calls before the refused
// call. find starts with the given nets. If another net refuses a plan, it adds this net and tries
// again.
func (t *remedySearch) find(nets []int) Remedy {
	for {
		plan, complete := t.plan(nets, true)
		switch {
		case !complete:
			return Remedy{Why: t.model.StopReason()}
		case plan == nil:
			return t.withoutPlan(nets)
		}
		remedy, after, stopped := t.try(plan)
		if stopped == nil {
			return remedy
		}
		fresh := slices.DeleteFunc(t.finder.refusingNets(stopped), func(n int) bool { return slices.Contains(nets, n) })
		if len(fresh) == 0 && after != nil {
			if further, ok := t.continueFrom(after, remedy, stopped); ok {
				return further
			}
		}
		if len(fresh) == 0 {
			return Remedy{Why: "the way out depends on more than the names of calls"}
		}
		nets = append(nets, fresh...)
		slices.Sort(nets)
	}
}

// withoutPlan returns the remedy to report if no plan was found. It sets None only if it is certain
// that no calls help.
func (t *remedySearch) withoutPlan(nets []int) Remedy {
	if why := cmp.Or(t.model.Calls.Gap(nets, nil), t.model.WhyAdvisory(nets)); why != "" {
		return Remedy{Why: why}
	}
	states := t.states()
	for _, n := range nets {
		data := states[n]
		if len(data.Flights)+len(data.Watches)+len(data.Spoilers()) > 0 {
			return Remedy{Why: "calls that have not ended may change it"}
		}
	}
	if plan, complete := t.plan(nets, false); plan != nil || !complete {
		return Remedy{Why: explore.WhyDoubtful}
	}
	return Remedy{None: true}
}

// try makes the calls of the plan, and then the refused call, on a copy of the state. If the gate
// refuses any of them, try returns the refusal. The state after the plan is nil unless all calls of
// the plan were admitted.
func (t *remedySearch) try(plan []*callclass.Class) (Remedy, *gate.State, *gate.Refusal) {
	s := t.state.Clone()
	remedy := Remedy{Found: true, Steps: slices.Clone(t.done.Steps), Asks: make(map[int]int), valued: make(map[int]bool)}
	maps.Copy(remedy.Asks, t.done.Asks)
	maps.Copy(remedy.valued, t.done.valued)
	for _, class := range plan {
		step := Step{Call: len(remedy.Steps) + 1, Tool: class.Tool, Name: class.Name()}
		remedy.valued[len(remedy.Steps)] = len(class.Data) > 0
		step.Args, step.Result = class.Fill(t.values)
		remedy.Steps = append(remedy.Steps, step)
		c := gate.Call{Tool: class.Tool, Also: t.finder.also[class.Tool], Args: []byte(step.Args), Time: t.call.Time}
		if stopped := t.makeLast(s, c, &remedy, step.Result); stopped != nil {
			return Remedy{}, nil, stopped
		}
	}
	c := t.call
	c.ID = ""
	remedy.Steps = append(remedy.Steps, Step{})
	stopped := t.makeLast(s, c, &remedy, "")
	remedy.Steps = remedy.Steps[:len(remedy.Steps)-1]
	return remedy, s, stopped
}

// makeLast makes the call c, the last step of the remedy, and grants the approvals that c needs. It
// then ends c successfully with the given result. If c is refused, makeLast returns the refusal.
func (t *remedySearch) makeLast(s *gate.State, c gate.Call, remedy *Remedy, result string) *gate.Refusal {
	d, delta := t.finder.policy.Decide(s, c, nil)
	s.Apply(delta)
	if a, ok := d.(*gate.Ask); ok {
		remedy.Asks[len(remedy.Steps)-1] = a.Approvals()
		d, delta = t.finder.policy.Decide(s, c, a.Grant())
		s.Apply(delta)
	}
	switch d := d.(type) {
	case *gate.Refusal:
		return d
	case *gate.Allow:
		end := gate.End{Outcome: gate.Success}
		if result != "" {
			end.Result = []byte(result)
		}
		s.Apply(t.finder.policy.PrepareEnd(end).Settle(s, d.Ticket.Number))
	}
	return nil
}

// plan returns the classes of the shortest run of successful calls that makes the goal possible.
// The goal is the refused call; the run does not include it. plan returns nil if no such run
// exists.
func (t *remedySearch) plan(nets []int, witnessed bool) (plan []*callclass.Class, complete bool) {
	offers := func(s *callclass.Class) bool { // consider only existing tools
		_, ok := t.finder.also[s.Tool]
		return ok || t.finder.also == nil
	}
	return t.model.FindDetour(nets, t.goal, t.states(), offers, witnessed)
}
