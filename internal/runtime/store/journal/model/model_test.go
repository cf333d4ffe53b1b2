package model

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/soak"
)

// An invariant holds in every state.
type invariant struct {
	name  string
	holds func(w *world, s *state) bool
}

func (w *world) forwards(s *state, counts func(call int) bool) (n int) {
	for call, did := range s.did {
		if did && counts(call) {
			n++
		}
	}
	return n
}

// Names of invariants.
const (
	budgetHolds  = "no more calls are forwarded than the budget has"
	onRecord     = "each call that was forwarded has its reservation in the log, and an acknowledged stop is in it"
	usedOnce     = "the approval is used once"
	stopHolds    = "after an acknowledged stop nothing is admitted"
	neverAhead   = "the checkpoint is never ahead of what is flushed in the log"
	folded       = "the checkpoint is what the log up to its place gives"
	imageFollows = "what a process has in memory is what the log up to its place gives"
	neverRefused = "a process that starts or reads on finds what it needs"
)

var invariants = []invariant{
	{budgetHolds, func(w *world, s *state) bool { return w.forwards(s, func(int) bool { return true }) <= budget }},
	{onRecord, func(w *world, s *state) bool {
		var on [calls]bool
		stopped := false
		for _, k := range s.steps[:s.end()] {
			if call, ok := k.reserves(); ok {
				on[call] = true
			}
			stopped = stopped || k == stopStep
		}
		return w.forwards(s, func(call int) bool { return !on[call] }) == 0 && (stopped || !s.done)
	}},
	{usedOnce, func(w *world, s *state) bool { return w.forwards(s, func(call int) bool { return w.uses[call] }) <= 1 }},
	{stopHolds, func(w *world, s *state) bool { return w.forwards(s, func(call int) bool { return s.late[call] }) == 0 }},
	{neverAhead, func(_ *world, s *state) bool { return s.checkpoint.step <= s.flushed }},
	{folded, func(w *world, s *state) bool {
		return s.checkpoint.step > s.n || s.checkpointValues == w.replay(s, s.checkpoint.step)
	}},
	{imageFollows, func(w *world, s *state) bool {
		for i := range s.process {
			if p := &s.process[i]; p.phase != dead && (p.at.step > s.n || p.image != w.replay(s, p.at.step)) {
				return false
			}
		}
		return true
	}},
	{neverRefused, func(_ *world, s *state) bool { return !s.denied }},
}

// A search is the set of explored states.
type search struct {
	seen map[state]int32
	from []int32 // the predecessor of each state
	what []uint8 // the action from the predecessor, by its number in acts
	acts []string
	last int32 // the state that breaks an invariant
}

// canonical returns the same state for states that differ only by a swap of the processes.
func canonical(s *state) state {
	t := *s
	if less(&t.process[1], &t.process[0]) {
		t.process[0], t.process[1] = t.process[1], t.process[0]
	}
	return t
}

func less(a, b *process) bool {
	x, y := a.key(), b.key()
	return strings.Compare(string(x[:]), string(y[:])) < 0
}

func (p *process) key() [24]byte {
	bit := func(b ...bool) (n byte) {
		for _, set := range b {
			n <<= 1
			if set {
				n |= 1
			}
		}
		return n
	}
	return [24]byte{byte(p.phase), bit(p.locked, p.rotating, p.free, p.spent), p.call, p.version, p.at.step, p.at.segment, p.folded,
		p.image.spent, p.image.version, bit(p.image.used, p.image.stopped), byte(p.fold), p.from, p.to.step, p.to.segment,
		p.folds.spent, p.folds.version, bit(p.folds.used, p.folds.stopped), p.result}
}

// explore visits all reachable states in breadth-first order, until one breaks an invariant.
func (w *world) explore(checked []invariant) (f *search, broken string) {
	f = &search{seen: map[state]int32{}}
	var now, later []state
	add := func(from int32, what string, s state) {
		if !w.named {
			s = canonical(&s)
		}
		if _, known := f.seen[s]; known {
			return
		}
		f.seen[s] = int32(len(f.from))
		f.from, f.what, later = append(f.from, from), append(f.what, f.act(what)), append(later, s)
	}
	start := state{parts: 1}
	for i := range start.process {
		start.process[i].phase = idle
	}
	add(-1, "", start)
	for len(later) > 0 {
		now, later = later, now[:0]
		for i := range now {
			s := &now[i]
			for _, c := range checked {
				if !c.holds(w, s) {
					f.last = f.seen[*s]
					return f, c.name
				}
			}
			if !s.denied {
				at := f.seen[*s]
				w.next(s, func(what string, s state) { add(at, what, s) })
			}
		}
	}
	return f, ""
}

func (f *search) act(what string) uint8 {
	i := slices.Index(f.acts, what)
	if i < 0 {
		i, f.acts = len(f.acts), append(f.acts, what)
	}
	return uint8(i)
}

// trace returns the actions that lead to the last state.
func (f *search) trace() string {
	var lines []string
	for i := f.last; i > 0; i = f.from[i] {
		lines = append(lines, f.acts[f.what[i]])
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%3d. %s\n", i+1, lines[len(lines)-1-i])
	}
	return b.String()
}

// The explored worlds: two processes, three calls, and a budget of two.
var (
	counting  = world{outcomes: true, ends: 2}
	stopping  = world{stop: true, ends: 1}
	approving = world{uses: [calls]bool{true, true, false}, outcomes: true, ends: 1}
	rolling   = world{ends: 2, rolls: 1}
)

// TestProtocol: no reachable state breaks an invariant. A long run has larger worlds as well.
func TestProtocol(t *testing.T) {
	soak.Bulk(t)
	all := map[string]world{"calls": counting, "stop": stopping, "approval": approving, "segments": rolling}
	if os.Getenv(soak.Variable) != "" {
		all["stop and outcomes"] = world{stop: true, outcomes: true, ends: 1}
		all["stop and segments"] = world{stop: true, ends: 1, rolls: 1}
		all["two segments"] = world{ends: 1, rolls: 2}
		all["approval and stop"] = world{stop: true, uses: approving.uses, ends: 1}
		all["approval and segments"] = world{uses: approving.uses, ends: 1, rolls: 1}
	}
	for name, w := range all {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				w.ends = 1
			}
			start := time.Now()
			f, broken := w.explore(invariants)
			t.Logf("%d states in %v", len(f.from), time.Since(start).Round(time.Millisecond))
			if broken != "" {
				w.named = true
				f, broken = w.explore(invariants)
				t.Errorf("%s:\n%s", broken, f.trace())
			}
		})
	}
}
