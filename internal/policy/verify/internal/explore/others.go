package explore

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// What calls of other values do is known of a run in which there are none: no other value
// has been met. From there a call of another value is admitted only where one of the
// value that is looked at would be, or of one that is new.

// maxOthers bounds the states that are looked at for that, unless the limit of a search
// is much larger.
const maxOthers = 2000

func (m *Model) othersLimit() int { return max(maxOthers, m.Limit/25) }

// proveLost checks that after the run, whose calls all have one value, no successful calls of any
// values meet the goal. It returns an empty text if that is so, and otherwise why it is not
// known. It tries the nets that forbid the goal to the value of the run, then all nets that
// share calls with the goal.
func (m *Model) proveLost(ms []Move, g *Goal, nets []int) (why string) {
	if why = m.proveLostIn(ms, g, nets); why == "" {
		return ""
	}
	if all := g.related(m); !slices.Equal(all, nets) {
		return m.proveLostIn(ms, g, all)
	}
	return why
}

// proveLostIn finds out whether some nets alone show it. Fewer nets forbid less, and a call that
// concerns none of them changes nothing that they see: what successful calls do not meet
// there they do not meet where all nets have a say.
func (m *Model) proveLostIn(ms []Move, g *Goal, nets []int) (why string) {
	var unmet []Move // the run as a new value sees it
	for _, mv := range ms {
		if mv.Class != nil {
			if mv.Class = mv.Class.Exchanged(); mv.Class == nil {
				return WhyValues
			}
		}
		unmet = append(unmet, mv)
	}
	classes, gap := m.ClassesFor(nets, Tagged(g.Matches))
	if gap != "" {
		return gap
	}
	o := &others{model: m, nets: nets}
	for _, c := range classes {
		own := c.Exchanged()
		switch {
		case !g.Matches(c) && !slices.ContainsFunc(nets, c.Concerns):
		case c.Another() && own != nil && !own.Another():
			o.open = append(o.open, c)
		default:
			o.calls = append(o.calls, c)
		}
	}
	for again := true; again; {
		var also bool
		if why, again = o.follow(ms, g.Matches); why != "" {
			return why
		}
		match := g.Matches
		if g.one { // it is about the value of the run
			match = func(*callclass.Class) bool { return false }
		}
		if why, also = o.follow(unmet, match); why != "" {
			return why
		}
		again = again || also
	}
	return ""
}

// related are the nets that calls of the goal concern, those that share calls with them,
// and so on. No call that the others see changes what these do.
func (g *Goal) related(m *Model) []int {
	classes, _ := m.ClassesFor(m.numbers(), Tagged(g.Matches))
	in, of := make([]bool, len(m.Nets)), make([][]*callclass.Class, len(m.Nets))
	var out []int
	add := func(c *callclass.Class) {
		for _, t := range c.Effects {
			if !in[t.Net] && !m.off[t.Net] {
				in[t.Net], out = true, append(out, t.Net)
			}
		}
	}
	for _, c := range classes {
		for _, t := range c.Effects {
			of[t.Net] = append(of[t.Net], c)
		}
		if g.Matches(c) {
			add(c)
		}
	}
	for k := 0; k < len(out); k++ {
		for _, c := range of[out[k]] {
			add(c)
		}
	}
	slices.Sort(out)
	return out
}

// numbers are the numbers of the nets that are not left out.
func (m *Model) numbers() []int {
	var out []int
	for i, off := range m.off {
		if !off {
			out = append(out, i)
		}
	}
	return out
}

// others are the calls of other values that can be admitted, as far as they were found.
type others struct {
	model *Model
	nets  []int
	calls []*callclass.Class
	open  []*callclass.Class // of other values, that nothing admits
}

// follow looks for what match wants after the run, and for further calls of other values
// that are admitted. why is empty where there is no such call.
func (o *others) follow(ms []Move, match func(*callclass.Class) bool) (why string, more bool) {
	r := runOf(o.model, o.nets)
	if r.play(ms); r.long {
		return WhyLong, false
	}
	runs, seen := []*run{r}, map[string]bool{r.key(): true}
	for k := 0; k < len(runs); k++ {
		if k == o.model.othersLimit() || o.model.Stop() {
			return o.model.Spent(), false
		}
		o.model.States++
		more = o.admit(runs[k]) || more
		next, found := runs[k].continuations(o.calls, match)
		if found {
			return WhyValues, false
		}
		for _, n := range next {
			if key := n.key(); !seen[key] {
				seen[key] = true
				runs = append(runs, n)
			}
		}
	}
	return "", more
}

// admit adds the calls that the value of the run can make to those that others can.
func (o *others) admit(r *run) (more bool) {
	o.open = slices.DeleteFunc(o.open, func(c *callclass.Class) bool {
		if blocking, _ := r.judge(c.Exchanged()); len(blocking) > 0 {
			return false
		}
		o.calls, more = append(o.calls, c), true
		return true
	})
	return more
}

// Leads are calls with which a run goes on to one that match wants, each successful
// before the next: of one value where that does. why says why none were found.
func (m *Model) Leads(ms []Move, match func(*callclass.Class) bool) (then []Move, why string) {
	cut := ""
	for _, another := range []bool{false, true} {
		var calls []*callclass.Class
		classes, _ := m.ClassesFor(m.numbers(), Tagged(match))
		for _, c := range classes {
			if !c.Unsure() && (another || !c.Another()) {
				calls = append(calls, c)
			}
		}
		if then, why = m.leads(ms, calls, match); why == "" {
			return then, ""
		}
		if why != WhyValues {
			cut = why
		}
	}
	return nil, cmp.Or(cut, WhyValues)
}

func (m *Model) leads(ms []Move, calls []*callclass.Class, match func(*callclass.Class) bool) (then []Move, why string) {
	type lead struct {
		*run
		then []Move
	}
	r := m.newRun()
	if r.play(ms); r.long {
		return nil, WhyLong
	}
	next := len(r.calls)
	for i, c := range r.calls {
		c.number = i
	}
	leads, seen := []lead{{run: r}}, map[string]bool{r.key(): true}
	add := func(l lead) {
		if key := l.key(); !seen[key] {
			seen[key] = true
			leads = append(leads, l)
		}
	}
	for k := 0; k < len(leads); k++ {
		if k == m.othersLimit() || m.Stop() {
			return nil, m.Spent()
		}
		m.States++
		l := leads[k]
		for _, c := range calls {
			if blocking, _ := l.judge(c); len(blocking) > 0 {
				continue
			}
			number := next + k
			begins := append(slices.Clone(l.then), Move{Call: number, Class: c})
			if !c.Waits && match(c) {
				return begins, ""
			}
			after := l.clone()
			after.begin(c)
			after.end(after.calls[len(after.calls)-1], gate.Success)
			add(lead{after, append(begins, Move{Call: number, End: gate.Success})})
		}
		base := l.clone()
		for i := range base.calls {
			after := base.clone()
			after.end(after.calls[i], gate.Success)
			add(lead{after, append(slices.Clone(l.then), Move{Call: base.calls[i].number, End: gate.Success})})
		}
	}
	return nil, WhyValues
}
