package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// claims adds the claims of the rules and of the hand-written nets to the result. It first resolves
// the names in the claims of the rules.
func (b *builder) claims(claims []*rules.Prove, nets []gate.Net) {
	for _, p := range claims {
		b.claim(p, nets)
	}
	for i := range b.source.Nets {
		for _, p := range b.source.Nets[i].Prove {
			b.result.Claims = append(b.result.Claims, claimOfNet(&b.source.Nets[i], p))
		}
	}
}

// claim resolves the names in a claim of the rules, and adds the claim to the result if that
// succeeds.
func (b *builder) claim(p *rules.Prove, nets []gate.Net) {
	parts := p.Each()
	c := claimOf(parts[0])
	if c.Text = p.String(); len(parts) > 1 {
		c.Parts = list.Map(parts, claimOf)
	}
	ok := true
	switch p.Claim {
	case rules.Conserved, rules.DeadlockFree, rules.NoTerminalStates:
		known := list.Map(nets, func(n gate.Net) string { return n.Name })
		if ok = slices.Contains(known, c.Net) || b.lacks(c.Net); !ok {
			b.atName(p.Net, problem(diag.Error, UnknownNet, p.Net.Pos, fmt.Sprintf("unknown net %q in the claim", c.Net), nearestNet(c.Net, known)))
		}
	case rules.Exclusive:
		c.Places = list.Map(p.Places, textOf)
		c.Net, ok = b.netWith(p)
	case rules.NarrowerThan:
	default:
		for _, n := range slices.Concat(p.Tools, p.Others, p.Until) {
			b.checkClaimed(n, nets)
		}
	}
	if ok {
		b.result.Claims = append(b.result.Claims, c)
	}
}

// claimOf converts a claim in rules to a [Claim]. The claim is about a single name or a single pair
// of names.
func claimOf(p *rules.Prove) Claim {
	c := Claim{
		Kind: p.Claim, Text: p.String(), Rule: p.Pos, Tools: list.Map(p.Tools, rules.Name.Call), Until: list.Map(p.Until, rules.Name.Call), Once: p.Once,
		Approval: p.Approval, Count: p.Count, Over: p.Over, User: p.User, Successful: p.Successful, OwnBudget: p.OwnBudget, Key: p.Key,
		File: p.File.Text, Net: p.Net.Text,
	}
	if len(c.Tools) > 0 {
		c.Tool = c.Tools[0]
	}
	if len(p.Others) > 0 {
		c.First = p.Others[0].Call()
	}
	return c
}

// lacks reports whether the net might be missing because a rule contains an error. Such an error
// has already been reported.
func (b *builder) lacks(net string) bool {
	return b.invalid && slices.ContainsFunc([]string{"require-", "approve-", "block-", "limit-", "allow-"}, func(prefix string) bool {
		return strings.HasPrefix(net, prefix)
	})
}

// nearestNet returns a hint that suggests a net with a similar name or lists the existing nets.
func nearestNet(name string, known []string) string {
	const few = 6
	hint := text.Suggest(name, known)
	if hint == "" && len(known) > 0 && len(known) <= few {
		hint = "nets: " + strings.Join(known, ", ")
	}
	return hint
}

// netWith returns the name of the only hand-written net that has all places of the claim. If not
// exactly one net has them, it reports a problem and returns false.
func (b *builder) netWith(p *rules.Prove) (string, bool) {
	var with, known []string
	for _, n := range b.source.Nets {
		known = append(known, n.Places...)
		if !slices.ContainsFunc(p.Places, func(place rules.Name) bool { return !slices.Contains(n.Places, place.Text) }) {
			with = append(with, n.Name)
		}
	}
	switch {
	case len(with) == 1:
		return with[0], true
	case len(with) > 1:
		b.atName(p.Places[0], problem(diag.Error, UnknownPlace, p.Places[0].Pos, fmt.Sprintf("several nets have these places: %s", strings.Join(with, ", ")),
			fmt.Sprintf("write it in one of the nets: prove: [%q]", strings.TrimPrefix(p.String(), "prove "))))
		return "", false
	}
	unknown := false
	for _, place := range p.Places {
		if !slices.Contains(known, place.Text) {
			unknown = true
			b.atName(place, problem(diag.Error, UnknownPlace, place.Pos, fmt.Sprintf("no hand-written net has a place %q", place.Text), text.Suggest(place.Text, known)))
		}
	}
	if !unknown {
		b.atName(p.Places[0], problem(diag.Error, UnknownPlace, p.Places[0].Pos, "no net has all of these places", ""))
	}
	return "", false
}

func claimOfNet(n *config.Net, p config.Proof) Claim {
	c := Claim{Rule: position(p.Position), Net: n.Name, Places: p.Places, Text: fmt.Sprintf("prove %s %s", p.Claim, n.Name)}
	for kind := rules.Conserved; kind <= rules.NoTerminalStates; kind++ {
		if kind.String() == p.Claim {
			c.Kind = kind
		}
	}
	if c.Kind == rules.Exclusive {
		c.Text = fmt.Sprintf("prove exclusive %s", strings.Join(p.Places, ", "))
	}
	return c
}

// checkClaimed warns if a claim refers to a call that nothing gates, which is probably a mistake.
// If the tools are known, checkTools checks every name instead.
func (b *builder) checkClaimed(n rules.Name, nets []gate.Net) {
	if b.source.Tools != nil || b.invalid {
		return
	}
	var known []string
	spelled := servers(Owners(b.source.Config)).spellings(n)
	for _, net := range nets {
		for _, tool := range spokenOf(net) {
			if slices.ContainsFunc(spelled, func(n rules.Name) bool { return meets(tool, n) }) {
				return
			}
			known = append(known, tool.Name)
		}
		known = append(known, net.Free...)
		known = append(known, list.FlatMap(net.Maps, namesIn)...)
	}
	known = append(known, list.FlatMap(b.labels.Maps, namesIn)...)
	if !slices.ContainsFunc(spelled, func(n rules.Name) bool { return isKnown(n, known) }) {
		b.atName(n, problem(diag.Warning, UnknownClaimed, n.Pos, fmt.Sprintf("no rule and no net names %q", n.Text), text.Suggest(n.Text, known)))
	}
}

func namesIn(m gate.Map) []string { return []string{m.As, m.Tool} }

// spokenOf returns the tools in a net's transitions and allowlists.
func spokenOf(net gate.Net) []gate.Tool {
	gated := list.FlatMap(net.Transitions, func(t gate.Transition) []gate.Tool { return t.Tools })
	return append(gated, list.FlatMap(net.Phases, func(p gate.Phase) []gate.Tool { return p.Tools })...)
}

// meets reports whether the listed tool matches the name n. The listed tool may be a pattern.
func meets(tool gate.Tool, n rules.Name) bool {
	listed := rules.Name{Text: tool.Name, Quoted: tool.Kind != gate.Glob}
	return tool.Name == n.Text || tool.Kind == gate.Glob && listed.Matches(n.Text)
}
