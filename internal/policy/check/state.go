package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// maxReplayed is the maximum number of calls in a trace that is replayed to find its final state.
const maxReplayed = 20_000

// statesAfter returns the state of each net at the end of the trace t, or nil if t is too long or
// the policy does not admit it.
func (v *Analysis) statesAfter(t verify.Trace) map[string]gate.NetState {
	box := sandbox.New(v.policy, nil)
	session := box.Session("")
	played := 0
	returns := make(map[int][]byte)
	for _, step := range t {
		id := strconv.Itoa(step.Call)
		switch {
		case step.Wait > 0:
			box.Wait(step.Wait * time.Duration(max(1, step.Times)))
			session.Tick(box.Now())
			continue
		case step.Ends:
			session.End(id, gate.End{Outcome: step.Outcome, Result: returns[step.Call]})
			continue
		}
		returns[step.Call] = []byte(step.Result)
		if played += max(1, step.Times); played > maxReplayed {
			return nil
		}
		call := v.tools.call(step)
		call.ID = id
		d, _ := session.Repeat(call, sandbox.Yes, step.Times, []byte(step.Result))
		if _, admitted := d.(*gate.Allow); !admitted {
			return nil
		}
	}
	states := make(map[string]gate.NetState)
	for _, n := range session.Nets() {
		states[n.Name] = n
	}
	return states
}

// call returns the call that a step makes, including all names of the step's tool.
func (s ToolSet) call(step verify.Step) gate.Call {
	c := gate.Call{Tool: step.Tool}
	if step.Args != "" {
		c.Args = []byte(step.Args)
	}
	if step.Names != nil {
		c.Also, c.Foreign = step.Names.Also, step.Names.Foreign
		return c
	}
	for _, t := range s.Tools {
		if t.Name == step.Tool {
			c.Also = t.Also
		}
	}
	return c
}

// tokensText lists the tokens and the in-flight transitions of a net.
func (v *Analysis) tokensText(s gate.NetState) string {
	marked := list.Filter(s.Marking, func(t gate.Tokens) bool { return t.Count > 0 })
	parts := list.Map(marked, func(t gate.Tokens) string { return fmt.Sprintf("%s: %d", t.Place, t.Count) })
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "no tokens"
	}
	for _, f := range s.InFlight {
		t := transitionOf(v.nets[s.Name], f.Transition)
		text += fmt.Sprintf("; %s is in flight, from %s to %s", v.written.transition(s.Name, t.Name), placesText(t.Inputs), placesText(t.Outputs))
	}
	return text
}

func placesText(places []string) string {
	if len(places) == 0 {
		return "nowhere"
	}
	return text.And(places)
}

func transitionOf(n gate.NetInfo, name string) gate.Transition {
	i := slices.IndexFunc(n.Transitions, func(t gate.Transition) bool { return t.Name == name })
	if i < 0 {
		return gate.Transition{Name: name}
	}
	return n.Transitions[i]
}

// transition returns the name of a transition, with its line if known.
func (ns writtenNets) transition(net, name string) string {
	return cited(name, gate.Position(ns.transitionAt(net, name)))
}

func (ns writtenNets) transitionAt(net, name string) config.Position {
	for _, n := range ns {
		i := slices.IndexFunc(n.Transitions, func(t config.Transition) bool { return t.Name == name })
		if n.Name == net && i >= 0 {
			return n.Transitions[i].Position
		}
	}
	return config.Position{}
}

// stuck describes what each of the nets waits for at the end of the trace t.
func (v *Analysis) stuck(t verify.Trace, nets []verify.Net) string {
	states := v.statesAfter(t)
	var b strings.Builder
	for _, n := range nets {
		info := v.nets[n.Name]
		if states == nil && info.Labels == nil {
			continue // the final state is unknown
		}
		if b.Len() == 0 {
			b.WriteString("  then:\n")
		}
		if info.Labels != nil {
			fmt.Fprintf(&b, "     - %s: %s\n", citedNet(n), reason(info))
			continue
		}
		fmt.Fprintf(&b, "     - %s has %s\n", citedNet(n), v.tokensText(states[n.Name]))
		for _, t := range info.Transitions {
			if missing := Lacking(t, states[n.Name]); len(t.Tools) > 0 && !t.Observe && missing != "" {
				fmt.Fprintf(&b, "       %s waits for %s\n", v.written.transition(n.Name, t.Name), missing)
			}
		}
	}
	return b.String()
}

// reason returns the net's reason for refusing calls. It replaces {key}, which stands for values
// from the refused call, with the names of the fields that hold them, such as <path>.
func reason(n gate.NetInfo) string {
	key := n.Key
	for _, t := range n.Transitions {
		if len(t.Key) > 0 && !t.Observe {
			key = t.Key
		}
	}
	fields := list.Map(key, func(f gate.Field) string { return cmp.Or(f.Source, f.Path) })
	return strings.ReplaceAll(n.Reason, "{key}", "<"+strings.Join(fields, ", ")+">")
}

// Lacking describes the tokens that transition t is waiting for.
func Lacking(t gate.Transition, s gate.NetState) string {
	var missing []string
	for i, place := range t.Inputs {
		if slices.Contains(t.Inputs[:i], place) {
			continue
		}
		wants, has := len(list.Filter(t.Inputs, func(p string) bool { return p == place })), 0
		for _, m := range s.Marking {
			if m.Place == place {
				has = m.Count - m.InFlight
			}
		}
		switch {
		case has >= wants:
		case wants == 1:
			missing = append(missing, "a token in "+place)
		default:
			missing = append(missing, fmt.Sprintf("%d tokens in %s", wants, place))
		}
	}
	return text.And(missing)
}

// refutingState describes the state that refutes a claim about states, such as the claim that a net
// never deadlocks. For other claims, it returns the empty string.
func (v *Analysis) refutingState(p claimProof) string {
	switch p.Kind {
	case rules.AlwaysPossible, rules.NoFailureLocks, rules.DeadlockFree, rules.NoTerminalStates:
		return v.stuck(p.Counterexample, p.Because)
	case rules.Conserved, rules.Exclusive:
	default:
		return ""
	}
	state, ok := v.statesAfter(p.Counterexample)[p.Net]
	if !ok {
		return ""
	}
	told := v.tokensText(state)
	if p.Kind == rules.Conserved {
		before, now := 0, 0
		for _, tokens := range v.nets[p.Net].Initial {
			before += tokens
		}
		for _, m := range state.Marking {
			now += m.Count
		}
		told = fmt.Sprintf("%s; it began with %s and has %d now", told, text.Count(before, "token"), now)
	}
	return fmt.Sprintf("  then %s has %s\n", cited(p.Net, v.nets[p.Net].Rule), told)
}

// marking returns the marking that refutes a claim about places.
func (v *Analysis) marking(p claimProof) map[string]int {
	if p.Result != verify.Refuted || p.Kind != rules.Conserved && p.Kind != rules.Exclusive {
		return nil
	}
	state, ok := v.statesAfter(p.Counterexample)[p.Net]
	if !ok {
		return nil
	}
	tokens := make(map[string]int)
	for _, m := range state.Marking {
		tokens[m.Place] = m.Count
	}
	return tokens
}
