package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// A Reloader can reload its configuration. An [operator.Proxy] may implement it.
type Reloader interface {
	Reload(ctx context.Context, o Reload) Reloaded
}

// Reload is the body of a request to reload the configuration.
type Reload struct {
	Reset  []string `json:"reset,omitempty"` // names of nets to reset to their initial marking, regardless of their current marking
	DryRun bool     `json:"dryRun,omitempty"`
	Actor  string   `json:"actor"`
}

// Values of [Reloaded.Result].
const (
	Applied   = "applied"   // the new policy differs from the previous one and is now in force
	Unchanged = "unchanged" // the policy has not changed
	DryRun    = "dry-run"   // the reload was only simulated, as requested
	Invalid   = "invalid"   // the configuration or the policy has errors
	Held      = "held"      // a changed net prevents the reload, because it has calls in flight or has left its initial marking
	Failed    = "failed"    // the reload failed for another reason
)

// Reloaded is the result of a reload. If Problem is not empty, nothing has changed.
type Reloaded struct {
	Result     string             `json:"result"`
	Problem    string             `json:"problem,omitempty"`    // errors in readable form, with positions and source lines
	Warnings   string             `json:"warnings,omitempty"`   // warnings in readable form, with positions and source lines
	Before     string             `json:"before"`               // fingerprint of the previous policy
	Policy     string             `json:"policy"`               // fingerprint of the policy in force
	Difference string             `json:"difference,omitempty"` // result of comparing the new policy with the previous one, such as "stricter"; empty if the policy has not changed
	Diff       string             `json:"diff,omitempty"`       // difference between the two policies, in readable form
	Nets       []operator.NetFate `json:"nets"`
	Restart    []string           `json:"restart,omitempty"` // configuration keys of changed settings that take effect only after a restart
}

// fateWords lists the values of [operator.NetFate.Fate], with words that describe the reload's
// effect on the net.
var fateWords = [...]struct{ fate, words string }{
	{"carried", "changed; used limits stay used"},
	{"begun", "at the start"},
	{"dropped", "gone"},
	{"held", "held: changed, but not in its initial marking or with calls in flight"},
	{"continued", "as before"},
}

// CountNets returns a line that counts the nets by the reload's effect on them, such as "1 begun, 2
// dropped".
func (r *Reloaded) CountNets() string {
	counts := map[string]int{}
	for _, n := range r.Nets {
		counts[n.Fate]++
	}
	var parts []string
	for _, f := range fateWords {
		if n := counts[f.fate]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, f.fate))
		}
	}
	return strings.Join(parts, ", ")
}

// DescribeNets returns a line for each net that the reload changes, with a description of the
// change.
func (r *Reloaded) DescribeNets() string {
	var b strings.Builder
	for _, n := range r.Nets {
		if n.Fate == "continued" && n.From == "" {
			continue
		}
		for _, f := range fateWords {
			if f.fate == n.Fate {
				fmt.Fprintf(&b, "  net %s: %s", n.Net, f.words)
			}
		}
		if n.From != "" {
			fmt.Fprintf(&b, " (it was %s)", n.From)
		}
		if n.Lost > 0 && n.Fate != "held" {
			fmt.Fprintf(&b, "; its history is lost in %s", text.Count(n.Lost, "place"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// HeldNets describes the nets that prevent the reload, and tells the operator what to do about each
// of them.
func (r *Reloaded) HeldNets() string {
	var held []string
	for _, n := range r.Nets {
		if n.Fate == "held" {
			held = append(held, fmt.Sprintf("net %q has changed, but is not in its initial marking or has calls in flight, in %s\n  help: wait until its calls end and it returns to its initial marking, or reset it with --reset-net %s",
				n.Net, strings.Join(n.Where, ", "), n.Net))
		}
	}
	return strings.Join(held, "\n")
}
