package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A view is a model with only some of its nets, and with the classes of calls that these nets
// distinguish. Fewer nets forbid fewer calls. A call that no run in a view admits is therefore not
// admitted by the policy either.
type view struct {
	model   *Model
	nets    []*Net
	at      []int // for each net of the model, its position in the view; -1 if the view omits the net
	classes []class
	limits  []int // positions of nets with reduced counters (see [Net.cap])

	spoiling []int // positions of the nets where a call can keep other calls from counting toward a requirement (see [gate.Transition.Spoils])
}

// A class represents all call classes that a view cannot distinguish.
type class struct {
	member  *callclass.Class // one of the represented call classes
	effects []callclass.Effect
	tag     uint8

	sure   bool  // whether calls of at least one represented class are known to be possible; set only if ViewOptions.Beyond is set
	beyond []int // the smallest set of nets outside the view that can refuse the calls of one represented class; only classes whose calls are known to be possible count
}

// ViewOptions select what a view includes.
type ViewOptions struct {
	Tag       func(*callclass.Class) uint8 // returns bits that mark a class for the query; nil means that no class is marked
	witnessed bool                         // whether to consider only calls with known tools and arguments
	cap       int                          // initial number of tokens in reduced counters; 0 means that counters are not reduced
	Limit     int                          // maximum number of states that the search may visit
	until     int                          // limit on the total effort of all searches; 0 means no limit
	required  bool                         // whether proofs must not rely on refusals by advisory nets
	Exact     bool                         // whether to explore all nets with their actual initial markings, without reduced counters
	Serial    bool                         // whether to explore only runs where each call succeeds before the next begins
	Beyond    bool                         // whether to record, for each class, the nets outside the view that can refuse its calls
	about     int                          // 1 + index of the net whose refusals the query is about, or 0 for other queries; the view keeps the calls that this net always blocks
}

func (m *Model) view(nets []int, o ViewOptions) *view {
	v := &view{model: m, at: slices.Repeat([]int{-1}, len(m.Nets))}
	for i, n := range nets {
		v.at[n] = i
		use := m.Nets[n]
		if o.cap > 0 {
			if c := use.cap(o.cap); c != use {
				v.limits = append(v.limits, i)
				use = c
			}
		}
		if use.spoils {
			v.spoiling = append(v.spoiling, i)
		}
		v.nets = append(v.nets, use)
	}
	var key []byte
	seen := make(map[string]int)
	classes, _ := m.ClassesFor(nets, o.Tag)
	for _, s := range classes {
		if o.witnessed && s.Unsure() || slices.ContainsFunc(s.BlockedBy, func(n int) bool { return v.at[n] >= 0 && n != o.about-1 }) {
			continue
		}
		c := class{member: s}
		if o.Tag != nil {
			c.tag = o.Tag(s)
		}
		key = append(key[:0], c.tag)
		for _, t := range s.Effects {
			if at := v.at[t.Net]; at >= 0 {
				c.effects = append(c.effects, callclass.Effect{Net: at, Meaning: t.Meaning})
				key = append(key, byte(at), byte(at>>8), byte(t.Meaning), byte(t.Meaning>>8))
			}
		}
		if len(c.effects) == 0 && c.tag == 0 {
			continue
		}
		if i, ok := seen[string(key)]; ok {
			if old := v.classes[i].member; uncertain(old) && !uncertain(s) || old.HasOther() && !s.HasOther() {
				v.classes[i].member = s
			}
			v.classes[i].noteBeyond(v, s, o)
			continue
		}
		seen[string(key)] = len(v.classes)
		c.noteBeyond(v, s, o)
		v.classes = append(v.classes, c)
	}
	return v
}

// noteBeyond records in c the nets outside the view that can refuse calls of class s, one of the
// classes that c represents. It keeps the smallest such set. It does nothing unless o.Beyond is set
// and calls of class s are known to be possible.
func (c *class) noteBeyond(v *view, s *callclass.Class, o ViewOptions) {
	if !o.Beyond || uncertain(s) {
		return
	}
	outside := list.Filter(s.Effects, func(t callclass.Effect) bool { return v.at[t.Net] < 0 && !v.model.Nets[t.Net].neverBlocks(t.Meaning) })
	beyond := list.Map(outside, func(t callclass.Effect) int { return t.Net })
	if !c.sure || len(beyond) < len(c.beyond) {
		c.sure, c.beyond = true, beyond
	}
}

// bound returns the maximum number of states for a search.
func (v *view) bound(o ViewOptions) int {
	limit := min(o.Limit, o.Limit*usualPrice/v.price())
	if o.until > 0 {
		limit = min(limit, (o.until-v.model.effort)/v.price())
	}
	return max(1, limit)
}

// price returns the effort of visiting a state: storing it and trying all classes in it.
func (v *view) price() int { return 16 + len(v.classes) }

// If visiting a state costs more than usualPrice, a search is limited by its effort instead of its
// number of states.
const usualPrice = 64

func (l *searchLimits) visited(v *view, states int) {
	l.States += states
	l.effort += states * v.price()
}

// uncertain reports whether calls of class s might be impossible or might not be admitted.
func uncertain(s *callclass.Class) bool { return s.Unsure() || s.HasOther() || s.AddsToSum }
