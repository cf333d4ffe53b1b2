package verify

import (
	"cmp"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
)

// A Guide finds the way from a refusal to a call that is allowed. It is safe
// for concurrent use.
type Guide struct {
	policy  *gate.Policy
	options Options
	also    map[string][]gate.Name // of the tools that are known; nil: none are known

	mu    sync.Mutex
	model *model
}

// A Remedy is what has to happen before a refused call is allowed.
type Remedy struct {
	Found bool   // Steps lead there
	None  bool   // no calls that succeed lead there
	Steps Trace  // each call succeeds before the next begins; the refused one is not among them
	Asks  []int  // which of Steps a person has to approve; len(Steps) is the refused call itself
	Why   string // where neither is known

	shared bool              // nets refuse that count the calls of other sessions too
	madeUp map[string]string // tools of Steps that stand for all that a pattern matches, with the pattern
}

// guideStates is how many states are looked at for one refusal: an answer waits
// for it.
const guideStates = 2000

// guideRoom is after how many states a model is made anew, so that it does not
// grow with each refusal.
const guideRoom = 1_000_000

// NewGuide prepares remedies for the policy. Of the options it takes Tools;
// where they are given, no others are part of a remedy.
func NewGuide(p *gate.Policy, o Options) *Guide {
	g := &Guide{policy: p, options: Options{Tools: o.Tools, States: guideStates}}
	if o.Tools != nil {
		g.also = make(map[string][]gate.Name)
		for _, t := range o.Tools {
			g.also[t.Name] = t.Also
		}
	}
	return g
}

// Remedy is the shortest way from the state to an admission of c, which was
// refused with r in this state. The state is not changed.
func (g *Guide) Remedy(s *gate.State, c gate.Call, r *gate.Refusal) Remedy {
	switch r.Kind {
	case gate.KindBlocked, gate.KindStateChanged:
	case gate.KindDefault:
		return Remedy{None: true}
	default:
		return Remedy{Why: "no other call changes what was refused"}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.model == nil || g.model.states > guideRoom {
		g.model = newModel(g.policy, &g.options)
	}
	t := &trip{guide: g, model: g.model, state: s, call: c}
	t.aim()
	refusing := g.numbers(r)
	remedy := t.find(refusing)
	remedy.shared = slices.ContainsFunc(refusing, func(n int) bool { return g.policy.Nets()[n].Scope != gate.ScopeSession })
	remedy.madeUp = g.madeUp(remedy.Steps)
	return remedy
}

// madeUp are the tools that no rule names and that stand for what a pattern
// matches: which tools there are is not known.
func (g *Guide) madeUp(steps Trace) map[string]string {
	if g.also != nil {
		return nil
	}
	made := make(map[string]string)
	for _, step := range steps {
		if step.Name != step.Tool || step.Args != "" {
			continue // it is written in a map, or with an action
		}
		if pattern, named := g.patternOf(step.Tool); !named && pattern != "" {
			made[step.Tool] = pattern
		}
	}
	return made
}

// patternOf is the longest pattern that matches a tool, and whether rules name
// the tool itself.
func (g *Guide) patternOf(tool string) (longest string, named bool) {
	for _, n := range g.policy.Nets() {
		for _, t := range n.Transitions {
			for _, listed := range t.Tools {
				switch {
				case listed.Name == tool:
					return "", true
				case listed.Kind == gate.Glob && gate.MatchGlob(listed.Name, tool) && len(listed.Name) > len(longest):
					longest = listed.Name
				}
			}
		}
	}
	return longest, false
}

// numbers are the nets that refuse.
func (g *Guide) numbers(r *gate.Refusal) []int {
	var nets []int
	for i, n := range g.policy.Nets() {
		if slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Net == n.Name }) {
			nets = append(nets, i)
		}
	}
	return nets
}

// A trip is the search for one remedy.
type trip struct {
	guide *Guide
	model *model
	state *gate.State
	call  gate.Call
	goal  *shape
}

// aim makes the refused call a shape.
func (t *trip) aim() {
	t.goal = &shape{tool: t.call.Tool, args: string(t.call.Args)}
	for _, meaning := range t.guide.policy.Meaning(t.call) {
		var e effect
		for _, a := range meaning.Asks {
			e = append(e, ask{lists: a.Transitions, weak: a.Weak, free: a.Free})
		}
		t.goal.touches = append(t.goal.touches, touch{meaning.Net, t.model.nets[meaning.Net].internEffect(e)})
	}
}

// find plans among the nets, and adds those that stop the plan, until none does.
func (t *trip) find(nets []int) Remedy {
	for {
		plan, complete := t.plan(nets, true)
		switch {
		case !complete:
			return Remedy{Why: t.model.spent()}
		case plan == nil:
			return t.hopeless(nets)
		}
		remedy, stopped := t.try(plan)
		if stopped == nil {
			return remedy
		}
		fresh := slices.DeleteFunc(t.guide.numbers(stopped), func(n int) bool { return slices.Contains(nets, n) })
		if len(fresh) == 0 {
			return Remedy{Why: "the way depends on more than the names of calls"}
		}
		nets = append(nets, fresh...)
		slices.Sort(nets)
	}
}

// hopeless says that no plan was found: that there is none, if nothing else can
// move the nets than what was planned with.
func (t *trip) hopeless(nets []int) Remedy {
	if why := cmp.Or(t.model.gap(nets, nil), t.model.yielding(nets)); why != "" {
		return Remedy{Why: why}
	}
	for _, n := range nets {
		data := t.state.Nets[n]
		if len(data.Flights) > 0 || len(data.Watches) > 0 {
			return Remedy{Why: "calls that have not ended may change it"}
		}
	}
	if plan, complete := t.plan(nets, false); plan != nil || !complete {
		return Remedy{Why: whyDoubtful}
	}
	return Remedy{None: true}
}

// plan is the shapes of the shortest run of successful calls to the goal, which
// is left out; nil where there is none.
func (t *trip) plan(nets []int, witnessed bool) (plan []*shape, complete bool) {
	o := viewOptions{witnessed: witnessed, limit: guideStates}
	v := t.model.view(nets, o)
	v.classes = slices.DeleteFunc(v.classes, func(c class) bool { return !t.offers(c.shape) })
	goal := class{shape: t.goal, tag: wanted}
	for _, touch := range t.goal.touches {
		if at := v.at[touch.net]; at >= 0 {
			touch.net = at
			goal.touches = append(goal.touches, touch)
		}
	}
	v.classes = append(v.classes, goal)
	p := t.model.newPlanner(v, -1)
	for i, n := range v.nets {
		p.start = append(p.start, n.internData(t.state.Nets[nets[i]]))
	}
	path, complete := p.search(o)
	if path == nil {
		return nil, complete
	}
	plan = make([]*shape, 0, len(path))
	for _, c := range path[:len(path)-1] {
		plan = append(plan, v.classes[c].shape)
	}
	return plan, true
}

// offers reports whether the tool of a shape is there to be called.
func (t *trip) offers(s *shape) bool {
	if t.guide.also == nil {
		return true
	}
	_, ok := t.guide.also[s.tool]
	return ok
}

// internData is the number of the local state that the gate describes.
func (n *net) internData(d *gate.NetData) int {
	l := local{marking: petri.Marking(slices.Clone(d.Marking)), flights: make([]int, len(n.trans)), stuck: d.Stuck}
	for _, f := range d.Flights {
		if len(n.trans[f.Transition].In) > 0 {
			l.flights[f.Transition]++
		}
	}
	return n.intern(l)
}

// try makes the calls of a plan in a copy of the state. It is the gate that
// decides here: what it refuses is no remedy. The refusal is what stopped it.
func (t *trip) try(plan []*shape) (Remedy, *gate.Refusal) {
	s := t.state.Clone()
	remedy := Remedy{Found: true}
	for i, shape := range plan {
		step := Step{Call: i + 1, Tool: shape.tool, Args: shape.args, Name: shape.name()}
		remedy.Steps = append(remedy.Steps, step)
		c := gate.Call{Tool: shape.tool, Also: t.guide.also[shape.tool], Args: []byte(shape.args), Time: t.call.Time}
		if stopped := t.make(s, c, &remedy, i); stopped != nil {
			return Remedy{}, stopped
		}
	}
	last := t.call
	last.ID = ""
	if stopped := t.make(s, last, &remedy, len(plan)); stopped != nil {
		return Remedy{}, stopped
	}
	return remedy, nil
}

// make makes one call that succeeds, with the approval that it needs.
func (t *trip) make(s *gate.State, c gate.Call, remedy *Remedy, step int) *gate.Refusal {
	d, delta := t.guide.policy.Decide(s, c, nil)
	s.Apply(delta)
	if a, ok := d.(*gate.Ask); ok {
		remedy.Asks = append(remedy.Asks, step)
		d, delta = t.guide.policy.Decide(s, c, a.Grant())
		s.Apply(delta)
	}
	switch d := d.(type) {
	case *gate.Refusal:
		return d
	case *gate.Allow:
		s.Apply(t.guide.policy.Settle(s, d.Ticket.Number, gate.Success))
	}
	return nil
}
