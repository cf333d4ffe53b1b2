package explore

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A Model is a policy prepared for exploration: its nets and the classes of calls. The zero value
// is not usable; see [New]. A Model caches search results and is not safe for concurrent use.
type Model struct {
	system
	searchLimits
	Calls     *callclass.Enumerator
	Classes   []*callclass.Class // classes that the policy does not deny by default
	byNet     [][]int            // for each net, the indexes of the classes that affect it
	attractor *attractor         // the classes of calls that are always possible; computed on first use
	all       *scope             // scope with all classes and outcomes; computed on first use
	full      *Model             // the complete model, if [Model.OneValue] derived this model from it; otherwise nil
	one       *Model             // the result of [Model.OneValue], computed on first use
}

// A system is the set of nets of a policy, which run together.
type system struct {
	Nets []*Net
	off  []bool // for each net, whether it is left out as redundant
}

// searchLimits holds the limits of the searches and counts the work done.
type searchLimits struct {
	Limit  int // maximum number of states per search
	Stop   func() bool
	States int // number of states visited so far in all searches
	effort int // states visited so far, weighted by the number of classes tried in each state
}

// Options limit the searches.
type Options struct {
	States int         // maximum number of states per search; less than 1 means DefaultStates
	Stop   func() bool // called periodically; the searches end when it returns true; may be nil
}

// DefaultStates is the default maximum number of states per search.
const DefaultStates = 50_000

// New prepares the policy's nets and the classes of its calls for exploration.
func New(p *gate.Policy, c callclass.Options, o Options) *Model {
	m := &Model{searchLimits: searchLimits{Limit: o.States, Stop: stickyStop(o.Stop)}}
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
	m.off = make([]bool, len(m.Nets))
	c.Stop = m.Stop
	m.Calls = callclass.New(p, listings, c)
	m.Classes = m.Calls.AdmittedClasses()
	m.addWaits()
	m.index()
	return m
}

// index records which classes affect each net.
func (m *Model) index() {
	m.byNet = make([][]int, len(m.Nets))
	for i, s := range m.Classes {
		for _, t := range s.Effects {
			m.byNet[t.Net] = append(m.byNet[t.Net], i)
		}
	}
}

// ClassesFor returns the classes in m.Classes. It adds classes for calls that were not enumerated
// in advance, one for each kind that the nets or the function tag can distinguish. If classes might
// be missing, gap is the reason.
func (m *Model) ClassesFor(nets []int, tag func(*callclass.Class) uint8) (classes []*callclass.Class, gap string) {
	kinds, gap := m.Calls.Kinds(nets, tag)
	if m.full != nil {
		kinds = slices.DeleteFunc(slices.Clone(kinds), (*callclass.Class).HasOther)
	}
	return slices.Concat(m.Classes, kinds), gap
}

// askEvery is the minimum number of visited states between two calls to Model.Stop.
const askEvery = 64

// mustStop reports whether a search must end. It calls Model.Stop only if at least askEvery states
// were visited since the last call.
func (l *searchLimits) mustStop(asked *int, states int) bool {
	if states-*asked < askEvery {
		return false
	}
	*asked = states
	return l.Stop()
}

// stickyStop wraps stop so that it keeps returning true once it has returned true. This ends all
// searches in progress.
func stickyStop(stop func() bool) func() bool {
	over := false
	return func() bool {
		over = over || stop != nil && stop()
		return over
	}
}

// addWaits adds a class for each timed transition of an enforced net. In the model, these
// transitions can fire at any time and in any order, so the model admits more runs than the real
// clock does.
func (m *Model) addWaits() {
	for _, n := range m.Nets {
		if n.Info.Shadow {
			continue
		}
		for _, t := range n.timed {
			m.Classes = append(m.Classes, n.WaitClass(t))
		}
	}
}

// An attractor contains the classes of calls that are always possible. It is computed in layers,
// without exploring the states of all nets together. The first layer contains the calls that no net
// can refuse. A later layer contains the calls that earlier layers can make possible: from every
// state of the nets that can refuse such a call, calls of earlier layers and the passage of time
// lead to a state that admits it.
type attractor struct {
	model *Model
	Ok    []bool         // for each class, whether it is in the attractor
	prep  []map[int]bool // for each class, the nets whose states might change while earlier calls make a call of the class possible
}
