package policy

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/rules"
)

// checkEvidence warns of rules that wait for the success of a command which only
// says what it would do: no call of it is evidence.
func (b *builder) checkEvidence() {
	for _, f := range b.files {
		for _, s := range f.Statements {
			switch s := s.(type) {
			case *rules.Require:
				b.evidence(s.First, fmt.Sprintf("so it never unlocks %s", s.Before.Text))
			case *rules.Limit:
				if s.Per != nil && s.Successful {
					b.evidence(*s.Per, fmt.Sprintf("so it never gives a call of %s back", s.Tool.Text))
				}
			}
		}
	}
}

// evidence warns where all maps that give the name look for a command with an
// option with which it is no evidence.
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
		b.atName(n, problem(diag.Warning, NoEvidence, n.Pos, fmt.Sprintf("a command with %s is no evidence, %s", option, so), "require a command that does it"))
	}
}

// idleOption is an option in the command of a map with which the command is no
// evidence of itself; empty if it is, or the map looks for no command.
func idleOption(m *gate.Map) string {
	command, ok := strings.CutPrefix(m.Source, "runs ")
	if !ok || m.Reader == nil || m.Field == "" {
		return ""
	}
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
