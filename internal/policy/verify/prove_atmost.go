package verify

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

func (a AtMost) tools() []gate.Tool {
	if a.Per.Call.Name == "" {
		return a.Tools
	}
	return append(slices.Clone(a.Tools), a.Per.Call)
}

func (a AtMost) prove(m *prover) Proof {
	b := explore.Budget{Shared: a.Per.User}
	if a.Per.Window > 0 {
		b.Every = a.refillInterval()
	}
	if n, ok := m.FindBudget(tagger(a.Tools, nil, nil), a.Count, b); ok {
		return Proof{Result: Proved, Because: m.named([]int{n})}
	}
	var p Proof
	if a.Per.Window > 0 {
		p = a.proveWindow(m)
	} else {
		p, _ = a.proveCount(m)
	}
	if a.Per.User && p.Result == Proved {
		return a.proveUser(m, p)
	}
	return p
}

// refillInterval returns the interval between refills of the token bucket: Window/Count, rounded
// up.
func (a AtMost) refillInterval() time.Duration {
	n := time.Duration(a.Count)
	return (a.Per.Window + n - 1) / n
}

// maxCount is the highest count tracked by the first search for a counterexample. If Count is
// higher, [AtMost.lengthen] extends the counterexample by repeating one of its calls.
const maxCount = 64

// maxExact is the highest Count that is searched for directly if [AtMost.lengthen] fails and some
// calls restart the count.
const maxExact = 500

// query returns a query for a run with more than count calls per session, or between two calls that
// restart the count.
func (a AtMost) query(count int) *explore.Query {
	var begins, ends []gate.Tool
	if a.Per.Call.Name != "" {
		begins = []gate.Tool{a.Per.Call}
	}
	if a.Per.Successful {
		begins, ends = nil, begins
	}
	q := &explore.Query{
		Sole: -1, Tag: tagger(a.Tools, begins, ends),
		Start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			mon += uint32(tag & explore.Wanted)
			hit := int(mon) > count
			if tag&earlier != 0 {
				mon = 0
			}
			return mon, hit
		},
	}
	if a.Per.Successful {
		q.Done = onSuccess(0)
	}
	return q
}

// proveCount tries to prove that at most Count calls are admitted per session, or between two calls
// that restart the count. If it refutes the claim, it also returns the counterexample.
func (a AtMost) proveCount(m *prover) (Proof, []explore.Move) {
	q := a.query(min(a.Count, maxCount))
	f := m.NeverMet(q, nil)
	if a.Count > maxCount && f.Result == Refuted {
		if f.Moves = a.lengthen(m, f.Moves); f.Moves == nil && a.Per.Call.Name != "" && a.Count <= maxExact {
			f = m.NeverMet(a.query(a.Count), nil)
		} else if f.Moves == nil {
			f = explore.Answer{Why: explore.WhyLong}
		}
	}
	return m.toProof(f, q), f.Moves
}

// lengthen looks for a counterexample by repeating one of the calls in a run until the run exceeds
// Count. It returns nil if the policy admits no such run.
func (a AtMost) lengthen(m *prover, ms []explore.Move) []explore.Move {
	q := a.query(a.Count)
	for i, mv := range ms {
		if mv.Class == nil || q.Tag(mv.Class)&explore.Wanted == 0 {
			continue
		}
		if longer := explore.Repeat(ms, i, a.Count-maxCount); m.Objection(q, longer) < 0 && m.Meets(q, longer) {
			return longer
		}
	}
	return nil
}

// proveWindow tries to prove the claim for a time window. A run refutes the claim only if a token
// bucket with the claim's count and window would refuse one of its calls.
func (a AtMost) proveWindow(m *prover) Proof {
	over := a
	over.Per.Window = 0
	if p, ms := over.proveCount(m); p.Result == Proved || a.exceeded(ms) {
		return p
	}
	if p := m.proveNeverMet(a.instantQuery()); p.Result != Proved {
		return p
	}
	return Proof{Why: "calls were counted only at certain times"}
}

// past is the monitor's state after time has passed. In this state, the monitor counts no more
// calls.
const past = ^uint32(0)

// instantQuery returns a query for a run with more than Count calls before any time has passed.
func (a AtMost) instantQuery() *explore.Query {
	carries := tagger(a.Tools, nil, nil)
	return &explore.Query{
		Sole: -1,
		Tag: func(s *callclass.Class) uint8 {
			if s.Waits {
				return earlier
			}
			return carries(s)
		},
		Start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			if mon == past || tag&earlier != 0 {
				return past, false
			}
			mon += uint32(tag & explore.Wanted)
			return mon, int(mon) > a.Count
		},
	}
}

// exceeded reports whether a limit with the count and window of the claim would refuse some call of
// the run ms.
func (a AtMost) exceeded(ms []explore.Move) bool {
	wanted := tagger(a.Tools, nil, nil)
	var now, since time.Duration
	left := a.Count
	for _, mv := range ms {
		switch {
		case mv.Class == nil:
		case mv.Class.Waits:
			now += mv.Class.Wait * time.Duration(max(1, mv.Times))
			for ; left < a.Count && now-since >= a.refillInterval(); since += a.refillInterval() {
				left++
			}
		case wanted(mv.Class) != 0:
			if left == a.Count {
				since = now
			}
			if left -= max(1, mv.Times); left < 0 {
				return true
			}
		}
	}
	return false
}

// proveUser tries to extend a proof for one session to all sessions of a user. It relies only on
// nets that the sessions share, because other nets start over in each session. If calls in separate
// sessions are found to exceed the count, the claim is refuted.
func (a AtMost) proveUser(m *prover, one Proof) Proof {
	if a.Per.Window > 0 {
		return Proof{Why: "a user can have several sessions, and it holds in each of them separately"}
	}
	q := a.query(min(a.Count, maxCount))
	shared := list.Indexes(m.Nets, func(n *explore.Net) bool { return n.Info.Scope != gate.ScopeSession && !n.Info.Shadow })
	f := m.NeverMet(q, shared)
	if f.Result == Proved && !slices.ContainsFunc(f.Nets, func(n int) bool { return !slices.Contains(shared, n) }) {
		return Proof{Result: Proved, Because: m.named(f.Nets)}
	}
	if f.Result == Proved && a.Count <= maxCount && m.InSessions(q) {
		return Proof{Result: Refuted, Because: one.Because, Why: "a user can have several sessions, and these nets start over in each of them"}
	}
	return Proof{Why: "a user can have several sessions, and it holds in each of them separately"}
}
