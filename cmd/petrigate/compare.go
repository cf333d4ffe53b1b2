package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/verify"
)

// A side is one of two policies that are compared.
type side struct {
	policy *gate.Policy
	active []string
	result *policy.Result
}

func newSide(r *policy.Result, s policy.Source) *side { return &side{r.Policy, s.Active, r} }

// maps are what names the calls: those of the policy, and of each net.
func (s *side) maps() []string {
	var all []string
	for _, m := range s.allMaps() {
		all = append(all, fmt.Sprintf("%q %q %q %q", m.Tool, m.Field, m.Source, m.As))
	}
	return all
}

func (s *side) allMaps() []gate.Map {
	maps := slices.Clone(s.result.Maps)
	for _, n := range s.policy.Nets() {
		maps = append(maps, n.Maps...)
	}
	return maps
}

// A sample is a call that stands for all that the policies see alike.
type sample struct{ name, tool, args string }

// samples are calls for every name that the policy speaks of, and for the
// tools of its maps with no such name. all is false where some name has none.
func (s *side) samples() (calls []sample, all bool) {
	o := verify.Options{Maps: s.allMaps()}
	watch := gate.Transition{Name: "watch", Inputs: []string{"open"}, Outputs: []string{"open"}, Observe: true}
	ask := func(t gate.Tool) {
		t.Except = ""
		o.Prove = append(o.Prove, verify.Reachable{Tool: t})
		watch.Tools = append(watch.Tools, t)
	}
	for _, n := range s.policy.Nets() {
		for _, t := range n.Transitions {
			for _, tool := range t.Tools {
				ask(tool)
			}
		}
		for _, name := range n.Free {
			ask(gate.Tool{Name: name})
		}
	}
	for _, m := range o.Maps {
		ask(gate.Tool{Name: m.As})
		ask(gate.Tool{Name: m.Tool})
	}
	if len(o.Prove) == 0 {
		return nil, true
	}
	open, err := gate.NewPolicy([]gate.Net{{ // which lets everything pass
		Name: "open", Places: []string{"open"}, Initial: map[string]int{"open": 1}, Transitions: []gate.Transition{watch}, Labels: true,
	}}, gate.PolicyOptions{Maps: o.Maps})
	if err != nil {
		return nil, false
	}
	all = true
	for _, glob := range s.globs() {
		calls = append(calls, sample{glob, wildcards.Replace(glob), ""})
	}
	for i, p := range verify.Policy(open, o).Proofs {
		if len(p.Witness) == 0 {
			all = false
			continue
		}
		last := p.Witness[len(p.Witness)-1]
		for _, step := range p.Witness {
			if !step.Ends {
				last = step
			}
		}
		calls = append(calls, sample{o.Prove[i].(verify.Reachable).Tool.Name, last.Tool, last.Args})
	}
	return calls, all
}

// globs are the patterns over names.
func (s *side) globs() []string {
	var globs []string
	for _, n := range s.policy.Nets() {
		for _, t := range n.Transitions {
			for _, tool := range t.Tools {
				if tool.Kind == gate.Glob {
					globs = append(globs, tool.Name)
				}
			}
		}
	}
	slices.Sort(globs)
	return slices.Compact(globs)
}

// wildcards make of a pattern a name that it matches, and hardly another does.
var wildcards = strings.NewReplacer("*", "some-other", "?", "o")

// A permission is what becomes of a call, the strictest last.
type permission uint8

const (
	allowed permission = iota
	asked
	refusedCall
)

func (p permission) String() string { return [...]string{"allow", "ask", "refuse"}[p] }

// A comparison plays the same calls under two policies.
type comparison struct {
	old, new *side
	calls    []sample
	nodes    []node
	seen     map[string]bool

	stricter, looser *witness
	complete         bool
	why              string // it is not
}

// A node is a pair of states between calls, and how it was reached.
type node struct {
	old, new []*gate.NetData
	from     int // of nodes
	step     step
}

type step struct {
	call    sample
	outcome gate.Outcome
}

// A witness is calls of which the last one is decided differently.
type witness struct {
	steps    []step
	old, new permission
}

// aCall is a call that no policy has heard of.
const aCall = "some-other-tool"

func newComparison(from, to *side) *comparison {
	d := &comparison{old: from, new: to, seen: make(map[string]bool), complete: true}
	before, all := from.samples()
	after, too := to.samples()
	have := make(map[[2]string]bool)
	for _, c := range append(append(before, after...), sample{aCall, aCall, ""}) {
		if key := [2]string{c.tool, c.args}; !have[key] {
			have[key] = true
			d.calls = append(d.calls, c)
		}
	}
	switch {
	case !all || !too:
		d.partly("no call is known for some names")
	case !slices.Equal(from.globs(), to.globs()):
		d.partly("the patterns differ, and of the names that they match only some were tried")
	case !slices.Equal(from.maps(), to.maps()):
		d.partly("the maps differ, and only some arguments were tried")
	case len(from.allMaps()) > 0:
		d.partly("of the arguments that maps look at only some were tried")
	}
	return d
}

func (d *comparison) partly(why string) { d.complete, d.why = false, why }

// explore plays calls until nothing new comes, both directions are shown, or
// the effort is spent.
func (d *comparison) explore(limit int, stop func() bool) {
	d.visit(node{old: d.old.start(), new: d.new.start(), from: -1})
	for i := 0; i < len(d.nodes); i++ {
		if len(d.nodes) > limit || stop() {
			d.partly("there are more states than were looked at")
			return
		}
		for _, c := range d.calls {
			d.try(i, c)
		}
		if d.stricter != nil && d.looser != nil {
			return
		}
	}
}

// try plays a call that ends well, and one that ends badly.
func (d *comparison) try(at int, c sample) {
	for _, outcome := range []gate.Outcome{gate.Success, gate.Failure} {
		st := step{c, outcome}
		before, was := d.old.play(d.nodes[at].old, st)
		after, is := d.new.play(d.nodes[at].new, st)
		w := &witness{old: was, new: is}
		switch {
		case is > was && d.stricter == nil:
			w.steps, d.stricter = d.path(at, st), w
		case is < was && d.looser == nil:
			w.steps, d.looser = d.path(at, st), w
		}
		if was == refusedCall || is == refusedCall {
			return
		}
		d.visit(node{before, after, at, st})
	}
}

func (d *comparison) visit(n node) {
	key := fmt.Sprint(markings(n.old), markings(n.new))
	if !d.seen[key] {
		d.seen[key] = true
		d.nodes = append(d.nodes, n)
	}
}

func markings(nets []*gate.NetData) [][]int {
	out := make([][]int, len(nets))
	for i, n := range nets {
		out[i] = n.Marking
	}
	return out
}

func (d *comparison) path(at int, last step) []step {
	steps := []step{last}
	for ; d.nodes[at].from >= 0; at = d.nodes[at].from {
		steps = append(steps, d.nodes[at].step)
	}
	slices.Reverse(steps)
	return steps
}

func (s *side) start() []*gate.NetData { return s.policy.NewState(s.active).Nets }

// play makes a call in a state with no call in flight, with the consent of
// whoever is asked, and ends it.
func (s *side) play(nets []*gate.NetData, st step) ([]*gate.NetData, permission) {
	state := s.policy.NewState(s.active)
	state.Nets = slices.Clone(nets)
	call := gate.Call{Tool: st.call.tool, Args: []byte(st.call.args)}
	if st.call.args == "" {
		call.Args = nil
	}
	verdict := allowed
	decision, delta := s.policy.Decide(state, call, nil)
	state.Apply(delta)
	if ask, ok := decision.(*gate.Ask); ok {
		verdict = asked
		decision, delta = s.policy.Decide(state, call, ask.Grant())
		state.Apply(delta)
	}
	allow, ok := decision.(*gate.Allow)
	if !ok {
		return nil, refusedCall
	}
	state.Apply(s.policy.Settle(state, allow.Ticket.Number, st.outcome))
	return state.Nets, verdict
}
