package explore

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A planner looks for the shortest run to a call tagged as [Wanted]. In the run, every call
// succeeds before the next begins, and all approvals are granted. It uses A* search, with the
// number of remaining landmarks as the estimate.
type planner struct {
	*view
	*scope
	start []int // local states where the run begins; nil means the initial states of all nets
	goal  []int // classes that may end the plan
	tree[int]
	states [][]int
	length []int     // for each state, the number of calls on the shortest known path to it
	queue  [][]int32 // states to expand, indexed by the estimated length of a plan through them
	least  int       // index of the first list in queue that might not be empty
	key    []byte
	sole   int // position of the net that alone must refuse the wanted call or require approval for it; -1 if the call must be admitted
}

func (m *Model) newPlanner(v *view, sole int) *planner {
	p := &planner{view: v, scope: v.scopeOf(), sole: -1}
	if sole < 0 {
		p.goal = v.wantedClasses()
		return p
	}
	p.sole = v.at[sole]
	p.goal = list.Indexes(v.classes, func(c class) bool {
		return !c.member.Waits && slices.ContainsFunc(c.effects, func(t callclass.Effect) bool { return t.Net == p.sole })
	})
	return p
}

// visit adds the state to the queue if the state can lead to the goal. If an equally short or
// shorter path to the state is already known, visit does nothing.
func (p *planner) visit(state []int, from int32, by int) {
	p.key = callclass.AppendKey(p.key[:0], state)
	length := 0
	if from >= 0 {
		length = p.length[from] + 1
	}
	k, fresh := p.add(p.key, from, by)
	switch {
	case fresh:
		p.states, p.length = append(p.states, state), append(p.length, length)
	case p.length[k] <= length:
		return
	default:
		p.from[k], p.by[k], p.length[k] = from, by, length
	}
	found, ok := p.landmarks(state, p.goal, p.sole)
	if !ok {
		return
	}
	least := max(p.least, length+p.minLength(found))
	for len(p.queue) <= least {
		p.queue = append(p.queue, nil)
	}
	p.queue[least] = append(p.queue[least], k)
}

// meets reports whether a plan can end with a call of class c in the given state.
func (p *planner) meets(state []int, c int) bool {
	if b := p.blocker(state, c); b >= 0 || p.sole < 0 {
		return b == p.sole
	}
	var questions []question
	for _, t := range p.classes[c].effects {
		n := p.view.nets[t.Net]
		questions = append(questions, n.questions(n.begin(state[t.Net], t.Meaning))...)
	}
	more, _ := asksMore(p.view.nets[p.sole].Index, questions)
	return more
}

// blocker returns the position of a net that blocks calls of class c, or -1 if no net does. It
// returns p.sole only if no other net blocks the calls.
func (p *planner) blocker(state []int, c int) int {
	sole := -1
	for _, t := range p.classes[c].effects {
		if p.view.nets[t.Net].begin(state[t.Net], t.Meaning).verdict == blocks {
			if t.Net != p.sole {
				return t.Net
			}
			sole = t.Net
		}
	}
	return sole
}

// stateAfter returns the state after a successful call of class c in the given state.
func (p *planner) stateAfter(state []int, c int) []int {
	next := slices.Clone(state)
	for _, t := range p.classes[c].effects {
		next[t.Net] = p.view.nets[t.Net].success(state[t.Net], t.Meaning)
	}
	return next
}

// stubbornSet returns the enabled classes that must be tried in the given state. Calls that affect
// no common net commute. It is therefore enough to try the calls that can help to reach the goal,
// the calls that interfere with them, and so on. This is the enabled part of a strong stubborn set
// (Valmari, "Stubborn sets for reduced state space generation", 1990).
func (p *planner) stubbornSet(state []int) []int {
	in := make([]bool, len(p.classes))
	var queue, enabled []int
	push := func(c int) {
		if !in[c] {
			in[c] = true
			queue = append(queue, c)
		}
	}
	concerning := func(net int) {
		for _, t := range p.users[net] {
			push(t.Net)
		}
	}
	for _, c := range p.goal {
		push(c)
	}
	if p.sole >= 0 {
		p.addSoleHelpers(state, concerning)
	}
	for k := 0; k < len(queue); k++ {
		c := queue[k]
		if b := p.blocker(state, c); b >= 0 {
			concerning(b)
			continue
		}
		enabled = append(enabled, c)
		for _, t := range p.classes[c].effects {
			concerning(t.Net)
		}
	}
	slices.Sort(enabled)
	return enabled
}

// addSoleHelpers calls concerning for each net that might have to change its state so that only net
// p.sole stands in the way of a wanted call. If a different net blocks the call, it passes only
// that net. Otherwise, it passes all nets that the call affects.
func (p *planner) addSoleHelpers(state []int, concerning func(net int)) {
	for _, c := range p.goal {
		if b := p.blocker(state, c); b >= 0 && b != p.sole {
			concerning(b)
			continue
		}
		for _, t := range p.classes[c].effects {
			concerning(t.Net)
		}
	}
}

// moves converts a plan into the beginnings and ends of its calls. All calls except the last
// succeed.
func (p *planner) moves(path []int) []Move {
	var ms []Move
	for i, c := range path {
		ms = append(ms, Move{Call: i, Class: p.classes[c].member})
		if i < len(path)-1 {
			ms = append(ms, Move{Call: i, End: gate.Success})
		}
	}
	return ms
}
