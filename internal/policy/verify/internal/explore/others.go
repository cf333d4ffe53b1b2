package explore

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// The model tracks a single key value, but a call after the run can have any value. If all calls of
// the run have the same value, two searches cover all cases. One tracks the value of the run. The
// other tracks a value that the run does not use; this value represents all such values. A call
// with an untracked value is possible only if one of the searches admits the same call with the
// tracked value.

// A search for the calls that can follow a run visits at most maxOthers states, or
// searchLimits.Limit/25 states if that is more.
const maxOthers = 2000

// overOthers reports whether a search for calls with values other than the run's must stop after
// visiting the given number of states.
func (l *searchLimits) overOthers(visited int) bool {
	return visited == max(maxOthers, l.Limit/25) || l.Stop()
}

// proveLost tries to prove that successful calls can no longer meet the goal after the run ms. All
// calls of the run have the same key value; later calls can have any value. proveLost first
// considers only the given nets, and then all nets connected with the goal. It returns "" on
// success, and otherwise the reason why the result is unknown.
func (m *Model) proveLost(ms []Move, g *Goal, nets []int) (why string) {
	if why = m.proveLostIn(ms, g, nets); why == "" {
		return ""
	}
	if all := g.relatedNets(m); !slices.Equal(all, nets) {
		return m.proveLostIn(ms, g, all)
	}
	return why
}

// proveLostIn is like proveLost, but considers only the given nets. The proof also holds for the
// whole policy: other nets only forbid more calls, and a call that affects none of the given nets
// does not change their state.
func (m *Model) proveLostIn(ms []Move, g *Goal, nets []int) (why string) {
	var unmet []Move // the run's moves from the point of view of a key value that the run does not use
	for _, mv := range ms {
		if mv.Class != nil {
			if mv.Class = mv.Class.Counterpart(); mv.Class == nil {
				return WhyValues
			}
		}
		unmet = append(unmet, mv)
	}
	classes, gap := m.ClassesFor(nets, Tagger(g.Matches))
	if gap != "" {
		return gap
	}
	o := &otherSearch{model: m, nets: nets}
	for _, c := range classes {
		own := c.Counterpart()
		switch {
		case !g.Matches(c) && !slices.ContainsFunc(nets, c.Concerns):
		case c.HasOther() && own != nil && !own.HasOther():
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
		if g.one { // the goal is only about the run's value
			match = func(*callclass.Class) bool { return false }
		}
		if why, also = o.follow(unmet, match); why != "" {
			return why
		}
		again = again || also
	}
	return ""
}

// relatedNets returns the nets that the goal's calls affect, the nets that share calls with these
// nets, and so on. A call that affects only other nets does not change what the related nets do.
func (g *Goal) relatedNets(m *Model) []int {
	classes, _ := m.ClassesFor(m.netIndexes(), Tagger(g.Matches))
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

// netIndexes returns the indexes of all nets except the omitted ones.
func (sys *system) netIndexes() []int {
	return list.Indexes(sys.off, func(off bool) bool { return !off })
}

// An otherSearch collects admitted calls whose key value differs from the run's.
type otherSearch struct {
	model *Model
	nets  []int
	calls []*callclass.Class
	open  []*callclass.Class // calls with other values that no visited state has admitted yet
}

// follow tries to show that no call selected by match is possible after the run ms. It returns ""
// if it succeeds, and otherwise the reason why this is unknown. It also adds to o.calls the calls
// with other values that turn out to be admitted. more reports whether it added any.
func (o *otherSearch) follow(ms []Move, match func(*callclass.Class) bool) (why string, more bool) {
	r := o.model.runOf(o.nets)
	if r.play(ms); r.long {
		return WhyLong, false
	}
	found, complete := o.model.extend(r, match, o.model.overOthers, func(r *run) []*callclass.Class {
		more = o.admit(r) || more
		return o.calls
	})
	switch {
	case !complete:
		return o.model.StopReason(), false
	case found != nil:
		return WhyValues, false
	}
	return "", more
}

// admit moves calls with other values from o.open to o.calls. A call moves if no net in the current
// state of r blocks the same call with the tracked value. admit reports whether it moved any calls.
func (o *otherSearch) admit(r *run) (more bool) {
	o.open = slices.DeleteFunc(o.open, func(c *callclass.Class) bool {
		if blocking, _ := r.judge(c.Counterpart()); len(blocking) > 0 {
			return false
		}
		o.calls, more = append(o.calls, c), true
		return true
	})
	return more
}

// RunTo returns calls that extend the run up to a call selected by match, each succeeding before
// the next begins. It prefers calls with the run's key value. If it finds no such calls, it returns
// the reason.
func (m *Model) RunTo(ms []Move, match func(*callclass.Class) bool) (then []Move, why string) {
	cut := ""
	for _, another := range []bool{false, true} {
		classes, _ := m.ClassesFor(m.netIndexes(), Tagger(match))
		calls := list.Filter(classes, func(c *callclass.Class) bool { return !c.Unsure() && (another || !c.HasOther()) })
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
	r := m.newRun()
	if r.play(ms); r.long {
		return nil, WhyLong
	}
	r.next = len(r.calls)
	for i, c := range r.calls {
		c.number = i
	}
	found, complete := m.extend(r, match, m.overOthers, func(*run) []*callclass.Class { return calls })
	switch {
	case !complete:
		return nil, m.StopReason()
	case found == nil:
		return nil, WhyValues
	}
	then = found.extension()
	return then[:len(then)-1], "" // the last call only begins
}
