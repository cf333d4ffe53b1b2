package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A watcher judges runs with respect to a claim, event by event, and has its own state. It is
// independent of the monitors in package verify.
type watcher struct {
	begin func(state string, c gate.Call, names []gate.Name, asked []gate.Step) (next string, broken bool)
	end   func(state string, c gate.Call, names []gate.Name, o gate.Outcome) string // nil if it has no effect
	tick  func(state string, d time.Duration) string                                // nil if it has no effect
}

// watcherOf returns the watcher of a claim about calls.
func watcherOf(a verify.Assertion) *watcher { return watcherWith(a, carried) }

// A having reports whether a call with the given names has a claimed name. If evidence is true, the
// name must count as evidence.
type having func(c gate.Call, names []gate.Name, t gate.Tool, evidence bool) bool

func watcherWith(a verify.Assertion, has having) *watcher {
	anyOf := func(c gate.Call, names []gate.Name, tools []gate.Tool, evidence bool) bool {
		return slices.ContainsFunc(tools, func(t gate.Tool) bool { return has(c, names, t, evidence) })
	}
	switch a := a.(type) {
	case verify.NeverBefore:
		return &watcher{
			begin: func(s string, c gate.Call, names []gate.Name, _ []gate.Step) (string, bool) {
				if !has(c, names, a.Tool, false) {
					return s, false
				}
				if a.Once {
					return s, s == ""
				}
				return "", s == ""
			},
			end: func(s string, c gate.Call, names []gate.Name, o gate.Outcome) string {
				if o == gate.Success && has(c, names, a.First, true) {
					return "done"
				}
				return s
			},
		}
	case verify.NeverAfter:
		return &watcher{
			begin: func(s string, c gate.Call, names []gate.Name, asked []gate.Step) (string, bool) {
				broken := s != "" && has(c, names, a.Tool, false) && !enough(asked, a.Unapproved)
				if has(c, names, a.After, false) {
					s = "after"
				}
				return s, broken
			},
			end: func(s string, c gate.Call, names []gate.Name, o gate.Outcome) string {
				if o == gate.Success && anyOf(c, names, a.Until, true) {
					return ""
				}
				return s
			},
		}
	case verify.NeverWhile:
		return while(a)
	case verify.NeverWithoutApproval:
		return &watcher{begin: func(s string, c gate.Call, names []gate.Name, asked []gate.Step) (string, bool) {
			return s, has(c, names, a.Tool, false) && !enough(asked, &a.Approval)
		}}
	case verify.Only:
		return &watcher{begin: func(s string, c gate.Call, names []gate.Name, asked []gate.Step) (string, bool) {
			certain := slices.ContainsFunc(names, func(n gate.Name) bool {
				return n.Certain && slices.ContainsFunc(a.Tools, func(t gate.Tool) bool { return t.Name == n.Text })
			})
			return s, !certain && !enough(asked, a.Unapproved)
		}}
	case verify.AtMost:
		return counter(a, has)
	}
	return nil
}

// enough reports whether the approval that a claim requires was requested. nil stands for a
// requirement that cannot be met.
func enough(asked []gate.Step, a *verify.Approval) bool {
	return a != nil && slices.ContainsFunc(asked, func(s gate.Step) bool {
		return max(1, s.Approvals) >= a.Count && (a.Via == "" || a.Via == s.Via)
	})
}

// while counts the calls in flight that have one of the names, the other, or both.
func while(a verify.NeverWhile) *watcher {
	kind := func(c gate.Call, names []gate.Name) (one, other bool) {
		return carried(c, names, a.Tool, false), carried(c, names, a.Other, false)
	}
	read := func(s string) (n [2]int) {
		_, _ = fmt.Sscan(s, &n[0], &n[1])
		return n
	}
	return &watcher{
		begin: func(s string, c gate.Call, names []gate.Name, _ []gate.Step) (string, bool) {
			one, other := kind(c, names)
			n := read(s)
			broken := one && n[1] > 0 || other && n[0] > 0
			if one {
				n[0]++
			}
			if other {
				n[1]++
			}
			return fmt.Sprint(min(n[0], 3), min(n[1], 3)), broken
		},
		end: func(s string, c gate.Call, names []gate.Name, o gate.Outcome) string {
			if o == gate.Unknown {
				return s
			}
			n := read(s)
			one, other := kind(c, names)
			if one {
				n[0]--
			}
			if other {
				n[1]--
			}
			return fmt.Sprint(n[0], n[1])
		},
	}
}

// counter counts calls in the same way as a rule that limits them.
func counter(a verify.AtMost, has having) *watcher {
	about := func(c gate.Call, names []gate.Name) bool {
		return slices.ContainsFunc(a.Tools, func(t gate.Tool) bool { return has(c, names, t, false) })
	}
	starts := func(c gate.Call, names []gate.Name, evidence bool) bool {
		return a.Per.Call.Name != "" && has(c, names, a.Per.Call, evidence)
	}
	read := func(s string) (n int, since time.Duration) {
		_, _ = fmt.Sscan(s, &n, &since)
		return n, since
	}
	every := (a.Per.Window + time.Duration(a.Count) - 1) / time.Duration(a.Count)
	return &watcher{
		begin: func(s string, c gate.Call, names []gate.Name, _ []gate.Step) (string, bool) {
			n, since := read(s)
			if about(c, names) {
				if n++; n == 1 {
					since = 0
				}
			}
			broken := n > a.Count
			if !a.Per.Successful && starts(c, names, false) {
				n = 0
			}
			return fmt.Sprint(min(n, a.Count+1), int64(since)), broken
		},
		end: func(s string, c gate.Call, names []gate.Name, o gate.Outcome) string {
			if a.Per.Successful && o == gate.Success && starts(c, names, true) {
				return ""
			}
			return s
		},
		tick: func(s string, d time.Duration) string {
			n, since := read(s)
			if a.Per.Window == 0 || n == 0 {
				return s
			}
			for since += d; n > 0 && since >= every; since -= every {
				n--
			}
			return fmt.Sprint(n, int64(since))
		},
	}
}

// broken plays every run within the limits of explore. It reports whether a run violates the claim
// and whether all runs were played.
func (b *brute) broken(w *watcher, waits time.Duration) (broken, closed bool) {
	type node struct {
		*position
		watch string
	}
	from := node{b.table().start, ""}
	seen, queue := map[node]bool{from: true}, []node{from}
	add := func(at *position, watch string) {
		if n := (node{at, watch}); !seen[n] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		if len(seen) > 2*bruteStates {
			return false, false
		}
		at := queue[0]
		for c, m := range b.movesOf(at.position) {
			if !m.ok {
				continue
			}
			if isTick(b.calls[c]) {
				if w.tick != nil {
					add(m.next, w.tick(at.watch, waits))
				} else {
					add(m.next, at.watch)
				}
				continue
			}
			watch, hit := w.begin(at.watch, b.calls[c], b.names[c], m.steps)
			if hit {
				return true, true
			}
			if m.next != nil {
				add(m.next, watch)
			}
		}
		for _, e := range b.endingsOf(at.position) {
			watch := at.watch
			if w.end != nil {
				watch = w.end(watch, b.calls[e.call], b.names[e.call], e.outcome)
			}
			add(e.next, watch)
		}
	}
	return false, !b.sampled
}

// watched checks a counterexample with the gate and the watcher: every call must be admitted, and
// the last call must violate the claim.
func (tr *trial) watched(w *watcher, p verify.Proof) {
	policy, s, watch := tr.brute.policy, tr.brute.policy.NewState(nil), ""
	numbers, calls, results := map[int]uint64{}, map[int]gate.Call{}, map[int]string{}
	for i, step := range p.Counterexample {
		switch {
		case step.Wait > 0:
			for range max(1, step.Times) {
				next, ok := ticked(policy, s)
				if !ok {
					tr.errorf("%+v: step %d cannot tick", p, i)
					return
				}
				s = next
				if w.tick != nil {
					watch = w.tick(watch, step.Wait)
				}
			}
			continue
		case step.Ends:
			s = settleWith(policy, s, numbers[step.Call], step.Outcome, results[step.Call])
			if w.end != nil {
				watch = w.end(watch, calls[step.Call], policy.Names(calls[step.Call]), step.Outcome)
			}
			continue
		}
		call := callOfStep(step)
		for range max(1, step.Times) {
			now, ok := begin(policy, s, call)
			if !ok {
				tr.errorf("%+v: step %d is refused", p, i)
				return
			}
			var broken bool
			if watch, broken = w.begin(watch, call, policy.Names(call), now.steps); broken {
				if _, each := p.Assertion.(verify.ForEach); i < len(p.Counterexample)-1 && step.Times == 0 && !each { // an earlier call with another value may also violate the claim
					tr.errorf("%+v: broken already at step %d", p, i)
				}
				tr.real(p.Counterexample)
				return
			}
			s, numbers[step.Call], calls[step.Call], results[step.Call] = now.state, now.number, call, step.Result
			if step.Times > 0 {
				s = settleWith(policy, s, now.number, gate.Success, step.Result)
				if w.end != nil {
					watch = w.end(watch, call, policy.Names(call), gate.Success)
				}
			}
		}
	}
	tr.errorf("%T %+v is not broken by its run", p.Assertion, p)
}

// moreClaims returns claims of the other kinds, drawn from a separate random source.
func (g *generator) moreClaims(tr *trial, a, b gate.Tool) []verify.Assertion {
	own := &generator{Rand: rand.New(rand.NewPCG(tr.seed, 21)), names: g.names}
	c := own.asserted(tr.rules)
	count := 1 + own.IntN(3)
	approvals := []*verify.Approval{nil, {}, {Via: "cli"}, {Count: 2}, {Via: "elicit"}}
	approval := approvals[own.IntN(len(approvals))]
	var until []gate.Tool
	if own.IntN(3) > 0 {
		until = append(until, c)
	}
	all := []verify.Assertion{
		verify.NeverBefore{Tool: a, First: b, Once: true},
		verify.NeverAfter{Tool: a, After: b, Until: until, Unapproved: approval},
		verify.NeverAfter{Tool: b, After: c},
		verify.NeverWhile{Tool: a, Other: b},
		verify.NeverWhile{Tool: a, Other: a},
		verify.NeverWithoutApproval{Tool: a, Approval: verify.Approval{Via: own.pick("cli", "elicit"), Count: own.IntN(3)}},
		verify.AtMost{Count: count, Tools: []gate.Tool{a}, Per: verify.Period{Call: b, Successful: own.IntN(2) == 0}},
		verify.AtMost{Count: count, Tools: []gate.Tool{a, b}},
		verify.AtMost{Count: count, Tools: []gate.Tool{a}, Per: verify.Period{Window: []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour}[own.IntN(4)]}},
	}
	labels := slices.ContainsFunc(tr.nets, func(n gate.Net) bool { return n.Labels != nil }) // otherwise, the gate gives no labels, and a pattern matches some
	other := slices.ContainsFunc(tr.calls, func(c gate.Call) bool { return c.Tool == "d" })  // a tool that is not mentioned anywhere
	if labels && other && !strings.Contains(a.Name+b.Name+c.Name, "**") && !strings.Contains(tr.rules, "word0") {
		all = append(all, verify.Only{Tools: []gate.Tool{a, b, c}, Unapproved: approval})
	}
	own.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:2]
}

// window returns the tick interval of the policy's only clock.
func (tr *trial) window() time.Duration {
	for _, n := range tr.policy.Nets() {
		for _, t := range n.Transitions {
			if t.Every > 0 && !n.Shadow {
				return t.Every
			}
		}
	}
	return 0
}

// monitored compares a claim with the result of its watcher.
func (tr *trial) monitored(p verify.Proof) {
	w := watcherOf(p.Assertion)
	if w == nil {
		return
	}
	tr.judge(p, w, w)
}

// judge compares a claim with watchers: shown judges the counterexample, and all judge all runs.
func (tr *trial) judge(p verify.Proof, shown *watcher, all ...*watcher) {
	if p.Result == verify.Refuted && len(p.Counterexample) > 0 {
		tr.watched(shown, p)
	}
	if p.Result == verify.Unknown {
		return
	}
	broken, closed := false, true
	for _, w := range all {
		hit, whole := tr.brute.broken(w, tr.window())
		broken, closed = broken || hit, closed && whole
	}
	closed = closed && !tr.loose(p)
	tr.stats[fmt.Sprintf("%T %v", p.Assertion, p.Result)]++
	if closed {
		tr.stats["claims closed"]++
	}
	if tr.judged {
		closed = false
	}
	if p.Result == verify.Proved && broken || p.Result == verify.Refuted && closed && !broken && len(p.Counterexample) < 6 && !further(p.Counterexample) {
		tr.errorf("%T %+v: broken %v", p.Assertion, p, broken)
	}
}

// isMore reports whether only a watcher can judge the claim.
func isMore(a verify.Assertion) bool {
	switch a := a.(type) {
	case verify.NeverBefore:
		return a.Once
	case verify.NeverWithoutApproval:
		return a.Approval != verify.Approval{}
	case verify.AtMost:
		return len(a.Tools) > 1 || a.Per != verify.Period{}
	}
	return watcherOf(a) != nil
}

// lockClaims returns claims about reachability; a trial uses one of them.
func (g *generator) lockClaims(tr *trial, a gate.Tool) []verify.Assertion {
	if rand.New(rand.NewPCG(tr.seed, 22)).IntN(2) == 0 {
		return []verify.Assertion{verify.NoFailureLocks{Tool: a}}
	}
	return []verify.Assertion{verify.AlwaysPossible{Tool: a, ButBudget: true}}
}

// locks compares a claim that no failure makes a tool unreachable with the gate's behavior.
func (tr *trial) locks(p verify.Proof, tool gate.Tool) {
	b := tr.brute
	first := tr.o.Prove[1].(verify.NeverBefore).First
	lost, shown := false, false // for some value
	for _, value := range tr.valuesOf(tool) {
		w := want{call: func(c int, _ []gate.Verdict) bool {
			return b.has(c, tool, false) && tr.hasValue(b.calls[c], value)
		}}
		lost = lost || p.Result != verify.Unknown && b.closed && b.failureLocks(w, first)
		shown = shown || p.Result == verify.Refuted && tr.showsLock(p.Counterexample, w)
	}
	if b.closed && !tr.judged && p.Result != verify.Unknown {
		tr.stats[fmt.Sprintf("%T %v", p.Assertion, p.Result)]++
		if lost && p.Result == verify.Proved || !lost && p.Result == verify.Refuted && len(p.Counterexample) < 5 {
			tr.errorf("%+v: brute force %v", p, lost)
		}
	}
	if p.Result == verify.Refuted && !shown {
		tr.errorf("%+v: it is refused, or its failure loses nothing that its success does not", p.Counterexample)
	}
}

// showsLock reports whether the gate admits the run, and the goal is unreachable after it but would
// be reachable if its last call succeeded.
func (tr *trial) showsLock(failed verify.Trace, w want) bool {
	won := slices.Clone(failed)
	won[len(won)-1].Outcome = gate.Success
	for run, goes := range map[*verify.Trace]bool{&failed: false, &won: true} {
		pl := replay(tr.brute.policy, *run)
		if pl.refused >= 0 || tr.brute.again().goesOn(pl.state, w) != goes && !tr.judged && (!goes || !tr.sampled) {
			return false
		}
	}
	return true
}

// valuesOf returns the values that a claim treats separately. If no key gates the calls, the claim
// treats all values together.
func (tr *trial) valuesOf(tool gate.Tool) []string {
	gated := slices.ContainsFunc(tr.nets, func(n gate.Net) bool {
		return slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool {
			return len(t.Key)+len(n.Key) > 0 && !t.Observe && slices.ContainsFunc(t.Tools, func(u gate.Tool) bool { return u.Name == tool.Name || u.Kind == gate.Glob })
		})
	})
	if !gated {
		return []string{""}
	}
	return []string{`"x"`, `"y"`}
}

// failureLocks reports whether the failure of some call in flight makes the goal unreachable while
// its success does not.
func (b *brute) failureLocks(w want, first gate.Tool) bool {
	good := b.escapes(w)
	leads := func(at *position, mon int) bool {
		k, ok := b.index[bruteState{at, mon}]
		return ok && good[k]
	}
	isFirst, fresh := b.having(first, true), b.withoutThird()
	for k, st := range b.states {
		if !fresh[k] {
			continue
		}
		ends := b.endingsOf(st.position) // success, failure and unknown outcome, by call
		for i := 0; i < len(ends); i += 3 {
			mon := st.mon
			if isFirst[ends[i].call] {
				mon = 1
			}
			if leads(ends[i].next, mon) && !(leads(ends[i+1].next, st.mon) && leads(ends[i+2].next, st.mon)) {
				return true
			}
		}
	}
	return false
}

// butBudget compares a claim that ignores the tool's own limits with the policy without these
// limits.
func (tr *trial) butBudget(p verify.Proof, tool gate.Tool) {
	if p.Result == verify.Refuted {
		if pl := replay(tr.brute.policy, p.Counterexample); pl.refused >= 0 {
			tr.errorf("%+v: step %d is refused", p, pl.refused)
		}
	}
	if tr.policy.Options().Deny || p.Result == verify.Unknown || tr.judged {
		return
	}
	var nets []gate.Net
	for _, n := range tr.brute.policy.Nets() {
		own := n.Cause == gate.CauseLimit && !n.Shadow && !slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool {
			return !t.Observe && slices.ContainsFunc(t.Tools, func(u gate.Tool) bool { return u.Name != tool.Name && !strings.HasPrefix(u.Name, tick) })
		})
		if !own {
			nets = append(nets, n.Net)
		}
	}
	policy, err := gate.NewPolicy(nets, tr.brute.policy.Options())
	if err != nil {
		return
	}
	free := &brute{policy: policy, calls: tr.brute.calls, names: tr.brute.names, results: tr.brute.results, sampled: tr.brute.sampled, fresh: tr.brute.fresh}
	w := want{call: func(c int, _ []gate.Verdict) bool { return free.has(c, tool, false) }}
	first := tr.o.Prove[1].(verify.NeverBefore)
	free.explore(first.Tool, first.First)
	if free.closed {
		tr.stats[fmt.Sprintf("%T but budget %v", p.Assertion, p.Result)]++
		if always := free.always(w); !always && p.Result == verify.Proved && !tr.two || always && p.Result == verify.Refuted && len(p.Counterexample) < 5 {
			tr.errorf("%+v: brute force %v", p, always)
		}
	}
}
