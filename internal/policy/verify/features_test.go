package verify_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestRandomFeatures compares verify with the gate for policies with all statements that PetriFlow
// lacks (shadow, unless, once, per successful, windows, budgets per user, channels, prompts and
// resources) and with hand-written nets that judge arguments, exempt calls, or are in shadow mode.
func TestRandomFeatures(t *testing.T) { try(t, newFeatureTrial, 20) }

func newFeatureTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 5))}
	src, known := g.featureRules(), toolsKnown(seed)
	var o verify.Options
	if seed%3 == 0 {
		o.LimitInventions(12) // makes names be synthesized for each question
	}
	return g.trial(&trial{t: t, seed: seed, rules: src, known: known, calls: featureCalls(src, known), change: g.change, o: o})
}

// TestRandomValidators checks that no counterexample contains arguments that a net refuses, and
// that no run of the gate violates a proof.
func TestRandomValidators(t *testing.T) { try(t, newJudgedTrial, 15) }

func newJudgedTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 8))}
	src := g.featureRules()
	judged := func(n *gate.Net) {
		g.change(n)
		word := g.pick("x", "y", `"s":1`)
		n.Validate = func(f gate.Firing) error {
			if strings.Contains(string(f.Call.Args), word) {
				return nil
			}
			return errors.New("no " + word)
		}
	}
	return g.trial(&trial{t: t, seed: seed, rules: src, known: true, judged: true, calls: featureCalls(src, true), change: judged, o: verify.Options{
		Conditions: []string{"args.s == 1"},
	}})
}

func featureCalls(src string, known bool) []gate.Call {
	calls := plainCalls(src, fieldsOfWords[:3], known)
	for _, tool := range []string{"prompt:s.p", "resource:s", "bx"} {
		calls = append(calls, gate.Call{Tool: tool, Args: []byte("{}")})
	}
	return calls
}

func (g *generator) featureName() string {
	return g.pick("a", "b", "c", "a", "b", "c", "m", "a.go", "b.go", "*", "a*", "resource:s", "prompt:s.p", `"a"`)
}

func (g *generator) featureRules() string {
	var out []string
	if g.IntN(3) == 0 {
		out = append(out, fmt.Sprintf("map %s.f x as m", g.pick("a", "b")))
	}
	window := false // verify models the clock of a single net exactly
	for range 1 + g.IntN(5) {
		shadow := g.pick("", "", "", "", "shadow ")
		unless := ""
		if g.IntN(4) == 0 {
			unless = " unless " + g.pick("a", "b", "c", "a.go", "b*", "resource:s")
		}
		switch g.IntN(10) {
		case 0, 1, 2:
			out = append(out, fmt.Sprintf("%srequire %s before %s%s%s", shadow, g.featureName(), g.featureName(), g.pick("", "", " once"), unless))
		case 3:
			out = append(out, fmt.Sprintf("%slimit %s to %d per %s%s", shadow, g.featureName(), g.count(), g.pick("session", "user"), unless))
		case 4, 5:
			out = append(out, fmt.Sprintf("%slimit %s to %d per %s%s%s", shadow, g.featureName(), g.count(), g.pick("", "successful "), g.featureName(), unless))
		case 6, 7:
			if !window {
				out = append(out, fmt.Sprintf("limit %s to %d per %s%s", g.featureName(), 1+g.IntN(3), g.pick("second", "minute", "hour", "day"), unless))
			}
			window = true
		case 8:
			out = append(out, fmt.Sprintf("%srequire human-approval%s before %s%s", shadow, g.pick("", " via cli", " via elicit"), g.featureName(), unless))
		default:
			out = append(out, fmt.Sprintf("%sblock %s%s", shadow, g.featureName(), unless))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// change adds features of YAML nets to a hand-written net.
func (g *generator) change(n *gate.Net) {
	if g.IntN(3) == 0 {
		n.Validate = func(gate.Firing) error { return nil } // a validator might refuse calls; the test assumes that it does not
		n.OnSuccess = func(gate.Firing) {}
	}
	n.Shadow = g.IntN(6) == 0
	n.Scope = gate.Scope(g.IntN(3))
	for i := range n.Transitions {
		if t := &n.Transitions[i]; len(t.Tools) > 0 && g.IntN(4) == 0 {
			t.Unless = gate.Tools(g.pick("a", "b", "c"))
		}
	}
}

// tick is the name of the calls that represent ticks of the clock in brute.
const tick = "the clock of "

// clockless returns nets where a call represents every tick of the clock. A net with a key has one
// such call per value.
func clockless(nets []gate.NetInfo) (out []gate.Net, ticks []gate.Call) {
	for _, info := range nets {
		n := info.Net
		n.Transitions = slices.Clone(n.Transitions)
		name := gate.Tool{Name: tick + n.Name, Kind: gate.Literal}
		var key []gate.Field
		for i := range valuesOfKey(&n) {
			key = append(key, gate.Field{Path: fmt.Sprint("k", i)})
		}
		for i := range n.Transitions {
			t := &n.Transitions[i]
			if t.Every == 0 && len(t.Tools) == 0 {
				continue
			}
			if t.Every == 0 { // patterns must not match ticks
				t.Unless = append(slices.Clone(t.Unless), gate.Tool{Name: tick + "*", Kind: gate.Glob})
				continue
			}
			t.Every, t.Tools, t.Key = 0, []gate.Tool{name}, key
		}
		n.Phases = slices.Clone(n.Phases)
		for i := range n.Phases { // lists must not block ticks
			n.Phases[i].Tools = append(slices.Clone(n.Phases[i].Tools), gate.Tool{Name: tick + "*", Kind: gate.Glob})
		}
		ticks = append(ticks, ticksOf(n)...)
		out = append(out, n)
	}
	return out, ticks
}

// valuesOfKey returns the number of fields in the net's key.
func valuesOfKey(n *gate.Net) int {
	count := len(n.Key)
	for _, t := range n.Transitions {
		count = max(count, len(t.Key))
	}
	return count
}

// ticksOf returns the calls that represent ticks of the net's clock.
func ticksOf(n gate.Net) (ticks []gate.Call) {
	for _, t := range n.Transitions {
		if !isTickOf(t) {
			continue
		}
		args := []string{""}
		for i := range valuesOfKey(&n) {
			var longer []string
			for _, a := range args {
				for _, v := range []string{"x", "y", "z"} {
					longer = append(longer, fmt.Sprintf("%s,\"k%d\":%q", a, i, v))
				}
			}
			args = longer
		}
		for _, a := range args {
			ticks = append(ticks, gate.Call{Tool: t.Tools[0].Name, Args: []byte("{" + strings.TrimPrefix(a, ",") + "}")})
		}
	}
	return ticks
}

// real replays a trace in the gate, with the gate's own clock.
func (tr *trial) real(t verify.Trace) {
	now := time.Unix(1e9, 0)
	s := tr.policy.NewState(nil)
	numbers, results := make(map[int]uint64), make(map[int]string)
	for i, step := range t {
		switch {
		case step.Wait > 0:
			now = now.Add(step.Wait)
		case step.Ends:
			next := cloneState(s)
			next.Apply(tr.policy.PrepareEnd(gate.End{Outcome: step.Outcome, Time: now, Result: []byte(results[step.Call])}).Settle(s, numbers[step.Call]))
			s = next
		default:
			call := callOfStep(step)
			call.Time = now
			for range max(1, step.Times) {
				began, ok := begin(tr.policy, s, call)
				if !ok {
					tr.errorf("step %d of %+v is refused at its time", i, t)
					return
				}
				s, numbers[step.Call], results[step.Call] = began.state, began.number, step.Result
				if step.Times > 0 {
					s = settleWith(tr.policy, s, began.number, gate.Success, step.Result)
				}
			}
		}
	}
}
