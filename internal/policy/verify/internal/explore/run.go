package explore

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A run is a session that replays calls one by one.
type run struct {
	nets  []*Net // nets of the run, by index in the model; nil for nets that are not part of the run
	local []int
	calls []*admittedCall
	long  bool // whether the run has too many repeated calls to be replayed; its final state is then unknown

	from *run // the run that this run continues, if any
	by   Move // if from is set, the event that extended it: a new call, or the success of a call in flight
	next int  // value of [Move].Call for the next call to begin
}

// An admittedCall is a call that was admitted in a run, whether or not it has ended.
type admittedCall struct {
	class *callclass.Class
	holds []callclass.Effect // for each affected net, the index of the call's [holding] in the net, stored in the field Meaning
	ended bool
	stays bool // whether the run treats the call as one that never ends

	number int // value of [Move].Call for this call in the moves that [Model.RunTo] returns
}

// newRun starts a run in all nets except the omitted ones, with unreduced counters (see [Net.cap]).
func (sys *system) newRun() *run {
	return sys.runIn(list.Filter(sys.Nets, func(n *Net) bool { return !sys.off[n.Index] }))
}

// runOf starts a run in the given nets only, with unreduced counters (see [Net.cap]).
func (sys *system) runOf(nets []int) *run {
	return sys.runIn(list.Map(nets, func(n int) *Net { return sys.Nets[n] }))
}

// newRun starts a run limited to the view's nets, using the view's counters.
func (v *view) newRun() *run { return v.model.runIn(v.nets) }

// runIn starts a run in the given nets, which may have reduced counters (see [Net.cap]).
func (sys *system) runIn(nets []*Net) *run {
	r := &run{nets: make([]*Net, len(sys.Nets)), local: make([]int, len(sys.Nets))}
	for _, n := range nets {
		r.nets[n.Index] = n
	}
	return r
}

// judge returns the nets that currently block calls of class s, and the nets that require approval
// for them.
func (r *run) judge(s *callclass.Class) (blocking, asking []int) {
	for _, t := range s.Effects {
		if n := r.nets[t.Net]; n != nil {
			b := n.begin(r.local[t.Net], t.Meaning)
			if b.verdict == blocks {
				blocking = append(blocking, t.Net)
			}
			if b.manual {
				asking = append(asking, t.Net)
			}
		}
	}
	return blocking, asking
}

// asks reports whether, for a call of class s, the net currently requires an approval that counts
// for the query.
func (r *run) asks(q *Query, net int, s *callclass.Class) bool {
	n := r.nets[net]
	return q.asks(n, n.begin(r.local[net], s.MeaningIn(net)))
}

// begin starts a call of class s, which must not be blocked by any net.
func (r *run) begin(s *callclass.Class) {
	c := &admittedCall{class: s}
	for _, t := range s.Effects {
		n := r.nets[t.Net]
		if n == nil {
			continue
		}
		b := n.begin(r.local[t.Net], t.Meaning)
		r.local[t.Net] = b.next
		r.unwatch(t.Net, b.killed)
		if b.hold > 0 {
			c.holds = append(c.holds, callclass.Effect{Net: t.Net, Meaning: b.hold})
		}
	}
	r.calls = append(r.calls, c)
}

func (r *run) end(c *admittedCall, o gate.Outcome) {
	holds := c.holds
	c.holds, c.ended = nil, o != gate.Unknown
	var rest []callclass.Effect
	for _, h := range holds {
		e := r.nets[h.Net].end(r.local[h.Net], h.Meaning, o)
		r.local[h.Net] = e.next
		r.unwatch(h.Net, e.killed)
		if e.hold > 0 {
			rest = append(rest, callclass.Effect{Net: h.Net, Meaning: e.hold})
		}
	}
	c.holds = rest
	for _, h := range holds {
		if n := r.nets[h.Net]; n.held.List[h.Meaning].spoils && !r.spoils(h.Net) {
			r.local[h.Net] = n.unspoil(r.local[h.Net])
		}
	}
}

// spoils reports whether a call in flight keeps other calls from counting toward a requirement in
// the given net (see [gate.Transition.Spoils]).
func (r *run) spoils(net int) bool {
	return slices.ContainsFunc(r.calls, func(c *admittedCall) bool {
		return slices.ContainsFunc(c.holds, func(h callclass.Effect) bool {
			return h.Net == net && r.nets[net].held.List[h.Meaning].spoils
		})
	})
}

// unwatch makes the net's observers in the bit set killed stop waiting for calls to succeed.
func (r *run) unwatch(net int, killed uint64) {
	if killed == 0 {
		return
	}
	for _, c := range r.calls {
		for i := range c.holds {
			if c.holds[i].Net == net {
				c.holds[i].Meaning = r.nets[net].dropWatches(c.holds[i].Meaning, killed)
			}
		}
		c.holds = slices.DeleteFunc(c.holds, func(h callclass.Effect) bool { return h.Meaning == 0 })
	}
}

// A Move is an event in a run: the beginning or the end of a call.
type Move struct {
	Call  int
	Class *callclass.Class // class of the call that begins; nil if the call ends
	End   gate.Outcome
	Times int // number of times that the call begins and ends; 0 if it only begins
}

// ClassesOf returns the classes of the calls that begin in the run ms, in order.
func ClassesOf(ms []Move) (classes []*callclass.Class) {
	for _, mv := range ms {
		if mv.Class != nil {
			classes = append(classes, mv.Class)
		}
	}
	return classes
}

// maxDoubles limits the number of additional calls that [Space.moves] inserts into a run.
const maxDoubles = 64

// moves converts a path to a state into the moves of a run. In a state, one call can stand for any
// number of identical calls (see [maxAlike]). If the path ends more calls than it begins, moves
// begins additional calls. ok is false if the conversion fails.
func (s *Space) moves(path []event) (ms []Move, ok bool) {
	double := make(map[int]int)
	for range maxDoubles {
		ms, again, ok := s.tryMoves(path, double)
		if ok || again < 0 {
			return ms, ok
		}
		double[again]++
	}
	return nil, false
}

// tryMoves tries to convert the path into moves. It begins double[i] extra calls at event i. If the
// conversion fails because too few calls have begun, the second result is the index of an event
// that needs one more extra call. Otherwise, it is -1.
func (s *Space) tryMoves(path []event, double map[int]int) (ms []Move, again int, ok bool) {
	r := s.newRun()
	var began []int                  // for each call, the index of the event that began it
	consumed := make(map[uint32]int) // for each type, the index of the event that began the most recently ended call of that type
	for i, e := range path {
		if e.kind == starts || e.kind == stays {
			for range 1 + double[i] {
				if blocking, _ := r.judge(s.classes[e.arg].member); len(blocking) > 0 {
					return nil, -1, false
				}
				ms = append(ms, Move{Call: len(r.calls), Class: s.classes[e.arg].member})
				r.begin(s.classes[e.arg].member)
				r.calls[len(r.calls)-1].stays = e.kind == stays
				began = append(began, i)
			}
			continue
		}
		c := slices.IndexFunc(r.calls, func(c *admittedCall) bool { return s.isOfType(c, e.arg) })
		if c < 0 {
			if at, ok := consumed[e.arg]; ok {
				return nil, at, false
			}
			return nil, -1, false
		}
		consumed[e.arg] = began[c]
		ms = append(ms, Move{Call: c, End: outcomes[e.kind]})
		r.end(r.calls[c], outcomes[e.kind])
	}
	return ms, -1, true
}

// isOfType reports whether call c has the type s.types.List[id].
func (s *Space) isOfType(c *admittedCall, id uint32) bool {
	t := s.types.List[id]
	return c.stays == t.stays && len(c.holds) == len(t.holds) && !slices.ContainsFunc(t.holds, func(h callclass.Effect) bool {
		return !slices.Contains(c.holds, callclass.Effect{Net: s.nets[h.Net].Index, Meaning: h.Meaning})
	}) && (s.q.Tag == nil || s.q.Tag(c.class)&Succeeded == t.tag)
}

// play applies the moves, even those that nets block.
func (r *run) play(ms []Move) {
	for _, mv := range ms {
		r.apply(mv, func([]int) bool { return true })
	}
}

// maxReplay is the maximum number of repeated calls in a move that are replayed one by one.
const maxReplay = 20_000

// apply plays a move and reports whether it played all of it. A move can repeat a call many times.
// Before each call, apply calls accept with the nets that block the call, and stops if accept
// returns false. If more than maxReplay repetitions would have to be played one by one, apply sets
// r.long and stops.
func (r *run) apply(mv Move, accept func(blocking []int) bool) bool {
	if mv.Class == nil {
		r.end(r.calls[mv.Call], mv.End)
		return true
	}
	played := 0
	for left := max(1, mv.Times); left > 0; left-- {
		if blocking, _ := r.judge(mv.Class); !accept(blocking) {
			return false
		}
		if played++; played > maxReplay {
			r.long = true
			return false
		}
		var before []int
		if mv.Times > 0 {
			before = slices.Clone(r.local)
		}
		r.begin(mv.Class)
		if mv.Times > 0 {
			r.end(r.calls[len(r.calls)-1], gate.Success)
			r.calls = r.calls[:mv.Call]
			left -= r.accelerate(before, left-1)
		}
	}
	if mv.Times > 0 {
		r.calls = append(r.calls, &admittedCall{class: mv.Class, ended: true})
	}
	return true
}

// Replay plays the moves in all nets. stopped is the index of a net that blocks a move or whose
// verdict is unknown, or -1 if all moves were played.
func (sys *system) Replay(ms []Move) (r *run, stopped int) {
	r, stopped = sys.newRun(), -1
	for _, mv := range ms {
		if !r.apply(mv, func(blocking []int) bool {
			if len(blocking) > 0 {
				stopped = pickBlocking(blocking, mv.Class)
			}
			return len(blocking) == 0
		}) {
			if r.long { // the run was not replayed to its end, so the result is unknown
				stopped = mv.Class.Effects[0].Net
			}
			break
		}
	}
	return r, stopped
}

// pickBlocking chooses the blocking net to examine first, preferably a net that never admits the
// call.
func pickBlocking(blocking []int, s *callclass.Class) int {
	for _, n := range blocking {
		if slices.Contains(s.BlockedBy, n) {
			return n
		}
	}
	return blocking[0]
}

// clone returns an independent copy of r without the calls that can no longer affect a net.
func (r *run) clone() *run {
	c := &run{nets: r.nets, local: slices.Clone(r.local), next: r.next}
	for _, l := range r.calls {
		if len(l.holds) > 0 {
			c.calls = append(c.calls, &admittedCall{class: l.class, holds: slices.Clone(l.holds), number: l.number})
		}
	}
	return c
}

// key returns a string that identifies the states of the nets and of the calls in flight.
func (r *run) key() string {
	open := list.Filter(r.calls, func(l *admittedCall) bool { return len(l.holds) > 0 })
	calls := list.Map(open, func(l *admittedCall) string { return fmt.Sprint(l.holds) })
	slices.Sort(calls)
	return fmt.Sprint(r.local, calls)
}

// continuations returns the runs that extend r by one step: a new call that succeeds, or the
// success of a call in flight. If a call selected by match can begin, it returns only the result
// found: the run that ends when this call begins.
func (r *run) continuations(calls []*callclass.Class, match func(*callclass.Class) bool) (next []*run, found *run) {
	for _, s := range calls {
		if blocking, _ := r.judge(s); len(blocking) > 0 {
			continue
		}
		c := r.clone()
		c.from, c.by, c.next = r, Move{Call: r.next, Class: s}, r.next+1
		if !s.Waits && match(s) {
			return nil, c
		}
		c.begin(s)
		c.end(c.calls[len(c.calls)-1], gate.Success)
		next = append(next, c)
	}
	base := r.clone()
	for i, l := range base.calls {
		c := base.clone()
		c.from, c.by = r, Move{Call: l.number, End: gate.Success}
		c.end(c.calls[i], gate.Success)
		next = append(next, c)
	}
	return next, nil
}

// extend looks for a shortest run that continues r with successful calls until a call selected by
// match can begin. The function calls returns the classes to try after a given run. found is nil if
// no such run was found. complete is false if stop returned true before the search ended.
func (l *searchLimits) extend(r *run, match func(*callclass.Class) bool, stop func(visited int) bool, calls func(*run) []*callclass.Class) (found *run, complete bool) {
	runs, seen := []*run{r}, map[string]bool{r.key(): true}
	for k := 0; k < len(runs); k++ {
		if stop(k) {
			return nil, false
		}
		l.States++
		next, found := runs[k].continuations(calls(runs[k]), match)
		if found != nil {
			return found, true
		}
		for _, n := range next {
			if key := n.key(); !seen[key] {
				seen[key] = true
				runs = append(runs, n)
			}
		}
	}
	return nil, true
}

// extension returns the moves that extend the original run to r, including the end of the last
// call.
func (r *run) extension() (ms []Move) {
	for ; r.from != nil; r = r.from {
		ms = append(ms, Move{Call: r.by.Call, End: gate.Success})
		if r.by.Class != nil {
			ms = append(ms, r.by)
		}
	}
	slices.Reverse(ms)
	return ms
}

// Tidy moves the end of each call as early as possible, so that fewer calls overlap. It does not
// move the end of a call past an event of another call if both calls affect the same net, or if tag
// is not nil and returns a nonzero value for both classes. The last move stays last.
func Tidy(ms []Move, tag func(*callclass.Class) uint8) []Move {
	out := slices.Clone(ms)
	of := make(map[int]*callclass.Class)
	for _, mv := range ms {
		if mv.Class != nil {
			of[mv.Call] = mv.Class
		}
	}
	for i := 1; i < len(out)-1; i++ {
		if out[i].Class != nil {
			continue
		}
		for k := i; out[k].Call != out[k-1].Call && commute(of[out[k].Call], of[out[k-1].Call], tag); k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// commute reports whether events of calls of the two classes can be reordered: the calls affect
// different nets, and tag is nil or returns 0 for at least one of the classes.
func commute(a, b *callclass.Class, tag func(*callclass.Class) uint8) bool {
	if tag != nil && tag(a) != 0 && tag(b) != 0 {
		return false
	}
	return !slices.ContainsFunc(a.Effects, func(t callclass.Effect) bool { return b.Concerns(t.Net) })
}

// accelerate repeats the latest call in a single step, at most the given number of times (loop
// acceleration), and returns the number of repetitions. The first argument holds the nets' states
// before the call. Every repetition changes the token counts by the same amounts, and no repetition
// enables or disables a transition.
func (r *run) accelerate(before []int, most int) int {
	if most == 0 {
		return 0
	}
	for i, n := range r.nets {
		if n != nil && r.local[i] != before[i] {
			most = min(most, n.maxRepeats(&n.locals.List[before[i]], &n.locals.List[r.local[i]]))
		}
	}
	if most <= 0 {
		return 0
	}
	for i, n := range r.nets {
		if n == nil || r.local[i] == before[i] {
			continue
		}
		a, next := &n.locals.List[before[i]], n.locals.List[r.local[i]].clone()
		for p := range next.marking {
			next.marking[p] += most * (next.marking[p] - a.marking[p])
		}
		r.local[i] = n.intern(next)
	}
	return most
}

// questions returns the approvals that the nets require for calls of class s in the current state.
func (r *run) questions(s *callclass.Class) (all []question) {
	for _, e := range s.Effects {
		if n := r.nets[e.Net]; n != nil {
			all = append(all, n.questions(n.begin(r.local[e.Net], e.Meaning))...)
		}
	}
	return all
}
