package verify

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A run is one session, followed call by call.
type run struct {
	model *model
	nets  []*net // by number; nil: not followed
	local []int
	calls []*live
	long  bool // it repeats more calls than were played: it is not followed to its end
}

// A live call is one that was admitted.
type live struct {
	shape *shape
	holds []touch // by number of the net
	ended bool
}

// newRun follows all nets, with the numbers as they are written.
func (m *model) newRun() *run {
	r := &run{model: m, nets: slices.Clone(m.nets), local: make([]int, len(m.nets))}
	for i, off := range m.off {
		if off {
			r.nets[i] = nil
		}
	}
	return r
}

// newRun follows the nets of the view only.
func (v *view) newRun() *run {
	r := &run{model: v.model, nets: make([]*net, len(v.model.nets)), local: make([]int, len(v.model.nets))}
	for _, n := range v.nets {
		r.nets[n.index] = n
	}
	return r
}

// judge is what the nets say of a call now.
func (r *run) judge(s *shape) (blocking, asking []int) {
	for _, t := range s.touches {
		if n := r.nets[t.net]; n != nil {
			b := n.begin(r.local[t.net], t.effect)
			if b.verdict == blocks {
				blocking = append(blocking, t.net)
			}
			if b.manual {
				asking = append(asking, t.net)
			}
		}
	}
	return blocking, asking
}

// begin admits a call that no net blocks.
func (r *run) begin(s *shape) {
	c := &live{shape: s}
	for _, t := range s.touches {
		n := r.nets[t.net]
		if n == nil {
			continue
		}
		b := n.begin(r.local[t.net], t.effect)
		r.local[t.net] = b.next
		r.unwatch(t.net, b.killed)
		if b.hold > 0 {
			c.holds = append(c.holds, touch{t.net, b.hold})
		}
	}
	r.calls = append(r.calls, c)
}

func (r *run) end(c *live, o gate.Outcome) {
	holds := c.holds
	c.holds, c.ended = nil, o != gate.Unknown
	var rest []touch
	for _, h := range holds {
		e := r.nets[h.net].end(r.local[h.net], h.effect, o)
		r.local[h.net] = e.next
		r.unwatch(h.net, e.killed)
		if e.hold > 0 {
			rest = append(rest, touch{h.net, e.hold})
		}
	}
	c.holds = rest
}

// unwatch ends watches of all calls in a net.
func (r *run) unwatch(net int, killed uint64) {
	if killed == 0 {
		return
	}
	for _, c := range r.calls {
		for i := range c.holds {
			if c.holds[i].net == net {
				c.holds[i].effect = r.nets[net].without(c.holds[i].effect, killed)
			}
		}
		c.holds = slices.DeleteFunc(c.holds, func(h touch) bool { return h.effect == 0 })
	}
}

// A move is one event of a run: call number call begins, or ends.
type move struct {
	call  int
	shape *shape // of a call that begins; nil: it ends
	end   gate.Outcome
	times int // so often, begin and end together; 0: once
}

// maxDoubles bounds the calls that are added to make a run real.
const maxDoubles = 64

// moves is the path to a state as calls of their own. Where the space took one
// call for any number, calls are added; ok is false if that did not succeed.
func (s *space) moves(path []event) (ms []move, ok bool) {
	double := make(map[int]int)
	for range maxDoubles {
		ms, again, ok := s.try(path, double)
		if ok || again < 0 {
			return ms, ok
		}
		double[again]++
	}
	return nil, false
}

// try makes the moves with some calls doubled. again is the event that has to
// be doubled once more.
func (s *space) try(path []event, double map[int]int) (ms []move, again int, ok bool) {
	r := s.newRun()
	var began []int                  // event, by call
	consumed := make(map[uint32]int) // event that began a call of the type which ended
	for i, e := range path {
		if e.kind == starts {
			for range 1 + double[i] {
				if blocking, _ := r.judge(s.classes[e.arg].shape); len(blocking) > 0 {
					return nil, -1, false
				}
				ms = append(ms, move{call: len(r.calls), shape: s.classes[e.arg].shape})
				r.begin(s.classes[e.arg].shape)
				began = append(began, i)
			}
			continue
		}
		c := s.find(r, e.arg)
		if c < 0 {
			if at, ok := consumed[e.arg]; ok {
				return nil, at, false
			}
			return nil, -1, false
		}
		consumed[e.arg] = began[c]
		ms = append(ms, move{call: c, end: outcomes[e.kind]})
		r.end(r.calls[c], outcomes[e.kind])
	}
	return ms, -1, true
}

// find is a call of the type that is in flight.
func (s *space) find(r *run, id uint32) int {
	return slices.IndexFunc(r.calls, func(c *live) bool { return s.is(c, id) })
}

// is reports whether a call is of the type.
func (s *space) is(c *live, id uint32) bool {
	t := s.types[id]
	return len(c.holds) == len(t.holds) && !slices.ContainsFunc(t.holds, func(h touch) bool {
		return !slices.Contains(c.holds, touch{s.nets[h.net].index, h.effect})
	}) && (s.q.tag == nil || s.q.tag(c.shape)&^wanted == t.tag)
}

// play makes the moves, whatever the nets say.
func (r *run) play(ms []move) {
	for _, mv := range ms {
		r.make(mv, func([]int) bool { return true })
	}
}

// maxReplay bounds the calls of one move that are played one by one.
const maxReplay = 20_000

// make makes one move as long as ok agrees with the nets that block it.
func (r *run) make(mv move, ok func(blocking []int) bool) bool {
	if mv.shape == nil {
		r.end(r.calls[mv.call], mv.end)
		return true
	}
	played := 0
	for left := max(1, mv.times); left > 0; left-- {
		if blocking, _ := r.judge(mv.shape); !ok(blocking) {
			return false
		}
		if played++; played > maxReplay {
			r.long = true
			return false
		}
		before := slices.Clone(r.local)
		r.begin(mv.shape)
		if mv.times > 0 {
			r.end(r.calls[len(r.calls)-1], gate.Success)
			r.calls = r.calls[:mv.call]
			left -= r.leap(before, left-1)
		}
	}
	if mv.times > 0 {
		r.calls = append(r.calls, &live{shape: mv.shape, ended: true})
	}
	return true
}

// replay plays moves in all nets. stopped is a net that forbids one of them, or
// of which that is not known; -1 if there is none.
func (m *model) replay(ms []move) (r *run, stopped int) {
	r, stopped = m.newRun(), -1
	for _, mv := range ms {
		if !r.make(mv, func(blocking []int) bool {
			if len(blocking) > 0 {
				stopped = m.worst(blocking, mv.shape)
			}
			return len(blocking) == 0
		}) {
			if r.long { // nobody knows what it says to the rest
				stopped = mv.shape.touches[0].net
			}
			break
		}
	}
	return r, stopped
}

// worst is the net to look at first: one that never lets the call pass.
func (m *model) worst(blocking []int, s *shape) int {
	for _, n := range blocking {
		if slices.Contains(s.shut, n) {
			return n
		}
	}
	return blocking[0]
}

// clone is a copy that goes its own way, without the calls that hold nothing.
func (r *run) clone() *run {
	c := &run{model: r.model, nets: r.nets, local: slices.Clone(r.local)}
	for _, l := range r.calls {
		if len(l.holds) > 0 {
			c.calls = append(c.calls, &live{shape: l.shape, holds: slices.Clone(l.holds)})
		}
	}
	return c
}

// key is what distinguishes the state that the run has come to.
func (r *run) key() string {
	var calls []string
	for _, l := range r.calls {
		if len(l.holds) > 0 {
			calls = append(calls, fmt.Sprint(l.holds))
		}
	}
	slices.Sort(calls)
	return fmt.Sprint(r.local, calls)
}

// continuations are the runs that go on with one success: of a call in flight,
// or of a new one. found is true where one of the calls is wanted.
func (r *run) continuations(calls []*shape, likes func(*shape) bool) (next []*run, found bool) {
	for _, s := range calls {
		if blocking, _ := r.judge(s); len(blocking) > 0 {
			continue
		}
		if !s.waits && likes(s) {
			return nil, true
		}
		c := r.clone()
		c.begin(s)
		c.end(c.calls[len(c.calls)-1], gate.Success)
		next = append(next, c)
	}
	base := r.clone()
	for i := range base.calls {
		c := base.clone()
		c.end(c.calls[i], gate.Success)
		next = append(next, c)
	}
	return next, false
}
