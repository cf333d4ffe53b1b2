package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/rules"
)

// checkEvidence warns about rules that require a successful call if the success of the call does
// not count. Examples are a dry run, and a script whose end is never reported. checkEvidence also
// warns if a failing script might count as successful.
func (b *builder) checkEvidence() {
	scripts := successChecker{b, make(map[string]bool)}
	for s := range b.statements {
		switch s := s.(type) {
		case *rules.Require:
			for _, first := range s.First {
				b.evidence(first, "so it never unlocks "+listed(s.Before))
				scripts.warn(first, "unlock "+listed(s.Before))
			}
			b.checkUntoldEnds(s)
		case *rules.Limit:
			if s.Per != nil && s.Successful {
				b.evidence(*s.Per, fmt.Sprintf("so it never refills the limit of %s", listed(s.Tools)))
				scripts.warn(*s.Per, fmt.Sprintf("refill the limit of %s", listed(s.Tools)))
			}
		}
	}
}

// evidence warns about a name if its map statements match only commands that have no effect, such
// as commands with the option --dry-run. The success of such a command does not count toward
// requirements.
func (b *builder) evidence(n rules.Name, so string) {
	option := ""
	for i := range b.labels.Maps {
		m := &b.labels.Maps[i]
		if m.As != n.Text {
			continue
		}
		if option = idleOption(m); option == "" {
			return
		}
	}
	if option != "" {
		b.atName(n, problem(diag.Warning, NoEvidence, n.Pos, fmt.Sprintf("a command with %s does not count as evidence, %s", option, so), "require the command without the option"))
	}
}

// idleOption returns the option that makes the command of a map statement have no effect, such as
// --dry-run, or "" if it finds no such option.
func idleOption(m *gate.Map) string {
	command, ok := strings.CutPrefix(m.Source, "runs ")
	if !ok || m.Reader == nil || m.Field == "" {
		return ""
	}
	command = strings.TrimSuffix(strings.TrimPrefix(command, "exactly "), " *")
	if m.Reader.Read(&gate.Call{Tool: m.Tool}, command).Evidence(m.Pattern) {
		return ""
	}
	for word := range strings.FieldsSeq(command) {
		if strings.HasPrefix(word, "-") && (strings.Contains(word, "dry") || strings.Contains(word, "help") || strings.Contains(word, "version")) {
			return word
		}
	}
	return ""
}

// checkDefault warns if a rule makes the default decision ineffective, or vice versa.
func (b *builder) checkDefault() {
	deny := b.source.Default == "deny"
	if !deny && b.source.Default == "" && b.source.Config == nil {
		return // without a configuration, the default decision is unknown
	}
	for s := range b.statements {
		b.checkUnderDefault(s, deny)
	}
}

func (b *builder) checkUnderDefault(s rules.Statement, deny bool) {
	switch s := s.(type) {
	case *rules.Allow:
		if !deny {
			b.atName(s.Tools[0], problem(diag.Warning, IdleAllow, s.Pos, "calls that no rule names are already allowed", `add default: deny to the configuration`))
		}
	case *rules.Limit:
		if i := slices.IndexFunc(s.Tools, matchesAll); deny && i >= 0 {
			n := s.Tools[i]
			b.atName(n, problem(diag.Warning, IdleDeny, n.Pos, fmt.Sprintf("limit %s names every tool, so default: deny refuses none", n),
				fmt.Sprintf("name the tools in the limit, or write allow %s to let every tool pass", n)))
		}
	}
}

// matchesAll reports whether the name is a pattern that all tools match.
func matchesAll(n rules.Name) bool {
	return n.Glob() && strings.Contains(n.Text, "*") && strings.Trim(n.Text, "*?") == "" && strings.Count(n.Text, "?") <= 1
}

// checkUntoldEnds warns about a rule that waits for the success of a script if no hook reports the
// end of the script. If the rule has alternatives, it warns only if no hook reports the end of any
// of them.
func (b *builder) checkUntoldEnds(s *rules.Require) {
	untold := list.Filter(s.First, func(first rules.Name) bool { return b.onlyOf(b.source.Unended, first.Text) })
	if len(untold) == 0 || s.Or && len(untold) < len(s.First) {
		return
	}
	b.atName(untold[0], problem(diag.Warning, UntoldEnd, untold[0].Pos,
		fmt.Sprintf("no hook reports whether %s succeeded, so nothing unlocks %s", listed(untold), listed(s.Before)),
		"require a tool of an MCP server, or human-approval"))
}
