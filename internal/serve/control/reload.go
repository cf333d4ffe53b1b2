package control

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// A Reloader reads its configuration again; an [operator.Proxy] that is one can be told to.
type Reloader interface {
	Reload(ctx context.Context, o Reload) Reloaded
}

// Reload is the body of an order to read the configuration again.
type Reload struct {
	Reset  []string `json:"reset,omitempty"` // nets that begin at their start, whatever their state is
	DryRun bool     `json:"dryRun,omitempty"`
	Actor  string   `json:"actor"`
}

// What a reload comes to.
const (
	Applied   = "applied"   // another policy is in force
	Unchanged = "unchanged" // the policy is the same
	DryRun    = "dry-run"   // nothing was changed
	Invalid   = "invalid"   // the configuration, or the policy, has errors
	Held      = "held"      // a net has changed that is not at its start or has calls in flight
	Failed    = "failed"    // it could not be done
)

// Reloaded is what became of a reload. With a Problem everything is as it was.
type Reloaded struct {
	Result     string             `json:"result"`
	Problem    string             `json:"problem,omitempty"`    // for people, with places and lines
	Warnings   string             `json:"warnings,omitempty"`   // likewise
	Before     string             `json:"before"`               // fingerprint of the policy that was in force
	Policy     string             `json:"policy"`               // that of the one that is
	Difference string             `json:"difference,omitempty"` // as the result of diff; empty: the policy is the same
	Diff       string             `json:"diff,omitempty"`       // for people
	Nets       []operator.NetFate `json:"nets"`
	Restart    []string           `json:"restart,omitempty"` // keys whose change needs a restart
}

// fateWords are what can become of a net, and how that is said.
var fateWords = [...]struct{ fate, words string }{
	{"carried", "changed, and what is used up stays so"},
	{"begun", "at the start"},
	{"dropped", "gone"},
	{"held", "held: changed, and not at the start or with calls in flight"},
	{"continued", "as before"},
}

// Fates says what became of the nets, in one line.
func (r *Reloaded) Fates() string {
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

// Story says what became of each net that is not as before.
func (r *Reloaded) Story() string {
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
			fmt.Fprintf(&b, "; what it remembered is lost in %s", text.Count(n.Lost, "place"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// HeldNets says which nets are held, and what helps.
func (r *Reloaded) HeldNets() string {
	var held []string
	for _, n := range r.Nets {
		if n.Fate == "held" {
			held = append(held, fmt.Sprintf("net %q has changed, and is not at its start or has calls in flight, in %s\n  help: let its calls end and its state come back to the start, or give --reset-net %s, which puts it there",
				n.Net, strings.Join(n.Where, ", "), n.Net))
		}
	}
	return strings.Join(held, "\n")
}

// Reload has the running proxy read its configuration again.
func (c *Client) Reload(o Reload) (r Reloaded, err error) {
	c.http.Timeout = 5 * time.Minute // the proofs of a policy may take a while
	return r, c.do("/reload", o, &r)
}
