package verify_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A played holds the gate's decisions about a trace.
type played struct {
	state   *gate.State
	calls   []gate.Call
	names   [][]gate.Name // by call
	manual  []bool
	steps   [][]gate.Step // approval requests, by call
	refused int           // number of the step that was not admitted; -1: none
	order   []string
}

// replay replays a trace in the gate.
func replay(p *gate.Policy, t verify.Trace) played {
	out := played{state: p.NewState(nil), refused: -1}
	numbers, results := make(map[int]uint64), make(map[int]string)
	for i, step := range t {
		if step.Wait > 0 {
			next, ok := ticked(p, out.state)
			if !ok {
				out.refused = i
				return out
			}
			out.state = next
			continue
		}
		if step.Ends {
			out.state = settleWith(p, out.state, numbers[step.Call], step.Outcome, results[step.Call])
			out.order = append(out.order, fmt.Sprint("end ", step.Call, " ", step.Outcome))
			continue
		}
		for range max(1, step.Times) {
			call := callOfStep(step)
			now, ok := begin(p, out.state, call)
			if !ok {
				out.refused = i
				return out
			}
			out.state = now.state
			numbers[step.Call], results[step.Call] = now.number, step.Result
			out.calls, out.names = append(out.calls, call), append(out.names, p.Names(call))
			out.manual, out.steps = append(out.manual, now.manual), append(out.steps, now.steps)
			if step.Times > 0 {
				out.state = settleWith(p, out.state, now.number, gate.Success, step.Result)
			}
		}
		out.order = append(out.order, fmt.Sprint("begin ", step.Call))
	}
	return out
}

// ticked returns the state after one tick of the policy's only clock. If its net has a key, the
// clock ticks for all values. The result is false if the clock's net has no key and does not
// change.
func ticked(p *gate.Policy, s *gate.State) (next *gate.State, ok bool) {
	for _, n := range p.Nets() {
		for _, c := range ticksOf(n.Net) {
			ok = ok || valuesOfKey(&n.Net) > 0
			if now, moved := begin(p, s, c); moved {
				s, ok = now.state, true
			}
		}
	}
	return s, ok
}

// callOfStep returns the call of a step.
func callOfStep(s verify.Step) gate.Call {
	return gate.Call{Tool: s.Tool, Also: canonical(s.Tool), Others: upstreamTools, Args: []byte(s.Args)}
}
