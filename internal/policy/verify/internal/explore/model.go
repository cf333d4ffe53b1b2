package explore

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A Model is the policy as it is explored: nets, and the classes of calls.
type Model struct {
	Nets      []*Net
	Calls     *callclass.Enumerator
	Classes   []*callclass.Class // those that the default lets pass
	byNet     [][]int            // classes that touch a net
	keyed     bool               // some net that is enforced has a key
	Limit     int                // states of one search
	Stop      func() bool
	States    int        // visited so far
	effort    int        // likewise, times the classes that were tried in them
	attractor *attractor // made when it is needed
	all       *scope     // likewise
	off       []bool     // nets that are left out, because they were found redundant
	full      *Model     // of [Model.OneValue]: the one with all calls; nil: this one
	one       *Model     // [Model.OneValue], made when it is needed
}

// Options bound the searches.
type Options struct {
	States int         // of one search; less than 1: DefaultStates
	Stop   func() bool // asked now and then; true ends the searches; nil: never
}

// DefaultStates is how many states one search looks at where nothing else is said.
const DefaultStates = 50_000

// New prepares the nets of a policy and the classes of calls to be explored.
func New(p *gate.Policy, c callclass.Options, o Options) *Model {
	m := &Model{Limit: o.States, Stop: lasting(o.Stop)}
	if m.Limit < 1 {
		m.Limit = DefaultStates
	}
	var listings []*callclass.Net
	for i, info := range p.Nets() {
		l := callclass.NewNet(info, i)
		n := newNet(l)
		listings, m.Nets = append(listings, l), append(m.Nets, n)
		if info.Mapper != nil {
			c.Gaps = append(c.Gaps, fmt.Sprintf("the net %s names calls by a function", info.Name))
		}
		if slices.Max(append(n.watchAt, -1)) >= maxWatches {
			c.Gaps = append(c.Gaps, fmt.Sprintf("the net %s has more than %d observers that wait", info.Name, maxWatches))
			n.watchAt = make([]int, len(n.watchAt))
		}
	}
	m.off, m.keyed = make([]bool, len(m.Nets)), keyed(m.Nets)
	c.Stop = m.Stop
	m.Calls = callclass.New(p, listings, c)
	m.Classes = m.Calls.Admitted()
	m.waits()
	m.index()
	return m
}

// index notes which classes touch a net.
func (m *Model) index() {
	m.byNet = make([][]int, len(m.Nets))
	for i, s := range m.Classes {
		for _, t := range s.Effects {
			m.byNet[t.Net] = append(m.byNet[t.Net], i)
		}
	}
}

// ClassesFor are all classes, those of deferred calls as the nets and a tag can tell
// them apart. The gap is why there may be more.
func (m *Model) ClassesFor(nets []int, tag func(*callclass.Class) uint8) (classes []*callclass.Class, gap string) {
	kinds, gap := m.Calls.Kinds(nets, tag)
	if m.full != nil {
		kinds = slices.DeleteFunc(slices.Clone(kinds), (*callclass.Class).Another)
	}
	return slices.Concat(m.Classes, kinds), gap
}

// askEvery is how many states are looked at between two questions whether to stop.
const askEvery = 64

// due asks whether to stop, if there were that many states since it asked last.
func (m *Model) due(asked *int, states int) bool {
	if states-*asked < askEvery {
		return false
	}
	*asked = states
	return m.Stop()
}

// lasting is stop, but that a yes is never taken back: what was begun is left
// everywhere.
func lasting(stop func() bool) func() bool {
	over := false
	return func() bool {
		over = over || stop != nil && stop()
		return over
	}
}

// waits adds what the clock does: it may let any of its transitions fire at any
// time. Of two nets, one may so be late: that is more than there is.
func (m *Model) waits() {
	for _, n := range m.Nets {
		if n.Info.Shadow {
			continue
		}
		for _, t := range n.timed {
			m.Classes = append(m.Classes, n.Waiting(t))
		}
	}
}
