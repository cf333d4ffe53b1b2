package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// A mention is an occurrence of a name in a rule. It records the use of the name, and the
// consequence for the rule if no call has the name.
type mention struct {
	rules.Name
	use use
	so  string
}

const neverApplies = "so this rule never applies"

// mentions returns the names of calls in a rule or claim.
func mentions(s rules.Statement) (all []mention) {
	add := func(u use, so string, names ...rules.Name) {
		for _, n := range names {
			all = append(all, mention{n, u, so})
		}
	}
	between := func(after, until []rules.Name) {
		add(forbids, neverApplies, after...)
		add(proves, "so it never ends this rule", until...)
	}
	var unless []rules.Name
	switch s := s.(type) {
	case *rules.Require:
		unless = s.Unless
		add(proves, withoutSuccess(s), s.First...)
		add(admits, neverApplies, s.Before...)
		add(forbids, "so it cancels no success", s.Since...)
	case *rules.Approve:
		unless = s.Unless
		add(admits, neverApplies, s.Before...)
		between(s.After, s.Until)
	case *rules.Block:
		unless = s.Unless
		add(forbids, neverApplies, s.Tools...)
		between(s.After, s.Until)
	case *rules.Limit:
		unless = s.Unless
		add(admits, neverApplies, s.Tools...)
		if s.Per != nil {
			add(proves, "so this limit is never refilled", *s.Per)
		}
	case *rules.Allow:
		add(admits, "so the rule allows nothing by this name", s.Tools...)
	case *rules.Success:
		add(forbids, "so this condition never applies", s.Tools...)
	default:
		add(forbids, "so the claim proves nothing", (&rules.File{Statements: []rules.Statement{s}}).Names()...)
	}
	for _, n := range unless {
		add(exempts, "so nothing is exempt as "+n.String(), n)
	}
	return all
}

// withoutSuccess returns a phrase that describes the effect of the rule if a required call never
// succeeds.
func withoutSuccess(s *rules.Require) string {
	before := listed(s.Before)
	switch {
	case s.Or && len(s.First) > 1:
		return fmt.Sprintf("so it never unlocks %s", before)
	case s.Shadow:
		return fmt.Sprintf("so this rule would refuse every call to %s", before)
	case len(s.Unless) > 0:
		return fmt.Sprintf("so %s can be called only where the rule exempts it", before)
	default:
		return fmt.Sprintf("so %s can never be called", before)
	}
}

// listed returns the names as a list for use in a sentence.
func listed(names []rules.Name) string { return text.And(list.Map(names, rules.Name.String)) }

func textOf(n rules.Name) string { return n.Text }

// A use describes how a policy uses a name. In some uses, the name must identify the server or
// agent of its tool. For such a use, the value is the last part of the error message that is
// reported if the name does not identify it. For other uses, the value is empty.
type use string

const (
	forbids use = "" // in rules that only restrict calls, and in claims
	proves  use = "it never counts as evidence"
	exempts use = "it exempts nothing"
	lists   use = "no call of that name passes"
	admits  use = `"default: deny" lets none of them pass`
)

// beyondTools reports whether the name denotes a prompt or a resource, which no list of tools
// contains.
func beyondTools(name string) bool {
	return strings.HasPrefix(name, "prompt:") || strings.HasPrefix(name, "resource:")
}

func isKnown(n rules.Name, known []string) bool {
	switch {
	case n.Glob():
		// A pattern that contains a dot also matches actions, which no list of tools contains.
		return strings.Contains(n.Text, ".") || slices.ContainsFunc(known, n.Matches)
	case slices.Contains(known, n.Text):
		return true
	}
	return !n.Quoted && slices.ContainsFunc(known, func(tool string) bool { return strings.HasPrefix(n.Text, tool+".") })
}

// nearestTool returns a hint that suggests a known tool. If replacing a separator such as a colon
// with a dot turns the name into the name of a tool, nearestTool suggests this tool.
func (b *builder) nearestTool(name string, known []string) string {
	for _, sign := range []string{":", "/", "__"} {
		if dotted := strings.Replace(name, sign, ".", 1); dotted != name && slices.Contains(known, dotted) {
			return fmt.Sprintf("did you mean %q?", dotted)
		}
	}
	return text.Suggest(name, known)
}

// givenBy returns the position of the first map statement that assigns the given name, or "" if no
// map statement assigns it.
func (b *builder) givenBy(label string) string {
	for _, m := range b.labels.Maps {
		if m.As == label {
			return m.Rule.String()
		}
	}
	return ""
}
