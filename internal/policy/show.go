package policy

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
)

// QuotedRule returns where a net was written, with the line.
func QuotedRule(at gate.Position, net string) string {
	line, _, _ := strings.Cut(diag.At(diag.Position(at), "", "").SourceLine(), "\n")
	if line = strings.TrimSpace(line); line == "" {
		line = net
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %s", at, line))
}

// MarkingText returns where tokens are; "empty" if there are none.
func MarkingText(m gate.Marking) string {
	if text := m.String(); text != "" {
		return text
	}
	return "empty"
}
