package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A view is the model with some of its nets only, and with the calls that
// they can tell apart. Fewer nets forbid less: what no view allows the policy
// does not allow.
type view struct {
	model   *Model
	nets    []*Net
	at      []int // position of a net of the model, -1
	classes []class
	limits  []int // positions of nets whose counters begin at a smaller number

	spoiling []int // positions of nets in which calls spoil what is watched
}

// A class is the classes that a view cannot tell apart.
type class struct {
	member  *callclass.Class // one of them
	effects []callclass.Effect
	tag     uint8

	sure   bool  // of some class it is known that such a call can be made; see viewOptions.beyond
	beyond []int // of that one with the fewest: nets that the view has not and that can refuse it
}

// ViewOptions choose what is seen.
type ViewOptions struct {
	Tag       func(*callclass.Class) uint8 // what the question asks about; nil: nothing
	witnessed bool                         // only calls of tools and with arguments that are known
	cap       int                          // large counters begin here; 0: where they do
	Limit     int                          // states of a search
	until     int                          // effort of the model at which searches end; 0: any
	required  bool                         // nothing is proved by what advisory nets block
	Beyond    bool                         // say of the classes which nets that are not seen can refuse them
	about     int                          // 1 + the net whose verdicts are asked about: it is seen to block; 0: none
}

func (m *Model) view(nets []int, o ViewOptions) *view {
	v := &view{model: m, at: make([]int, len(m.Nets))}
	for i := range v.at {
		v.at[i] = -1
	}
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
		if o.witnessed && s.Unsure() || slices.ContainsFunc(s.Shut, func(n int) bool { return v.at[n] >= 0 && n != o.about-1 }) {
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
			if old := v.classes[i].member; uncertain(old) && !uncertain(s) || old.Another() && !s.Another() {
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

// noteBeyond notes which nets beyond the view can refuse the class, where they are
// fewer than of the others of its class.
func (c *class) noteBeyond(v *view, s *callclass.Class, o ViewOptions) {
	if !o.Beyond || uncertain(s) {
		return
	}
	var beyond []int
	for _, t := range s.Effects {
		if v.at[t.Net] < 0 && !v.model.Nets[t.Net].lenient(t.Meaning) {
			beyond = append(beyond, t.Net)
		}
	}
	if !c.sure || len(beyond) < len(c.beyond) {
		c.sure, c.beyond = true, beyond
	}
}

// bound is how many states a search may look at.
func (v *view) bound(o ViewOptions) int {
	limit := min(o.Limit, o.Limit*usualPrice/v.price())
	if o.until > 0 {
		limit = min(limit, (o.until-v.model.effort)/v.price())
	}
	return max(1, limit)
}

// price is the effort of one state: to keep it, and to try all classes in it.
func (v *view) price() int { return 16 + len(v.classes) }

// usualPrice is up to where the limit is one of states, and not of effort.
const usualPrice = 64

func (m *Model) visited(v *view, states int) {
	m.States += states
	m.effort += states * v.price()
}
