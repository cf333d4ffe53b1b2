// Package doctor looks for what breaks in practice: a configuration that does not load, files
// that others may write, commands that a program of the desktop does not find, clients that reach
// servers past the proxy. Each finding names its fix; what is safe to mend, it mends once a
// person agrees.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/service"
	"github.com/petrigate/petrigate/internal/takeover"
	"github.com/petrigate/petrigate/internal/text"
)

// The states of a finding.
const (
	OK      = "ok"
	Warning = "warning"
	Failed  = "failed"
)

// A Finding is what one check says of one thing.
type Finding struct {
	Check   string `json:"check"`
	Status  string `json:"status"`
	Says    string `json:"says"`
	Fix     string `json:"fix,omitempty"`
	Fixable bool   `json:"fixable"` // --fix does it

	mend *mend
}

// A mend is a safe change: what it would do, and how.
type mend struct {
	shows string // "": do shows it, and asks
	do    func(context.Context) error
}

// A Report is what all checks say.
type Report struct {
	OK       bool      `json:"ok"` // no check has failed
	Failed   int       `json:"failed"`
	Warnings int       `json:"warnings"`
	Checks   []Finding `json:"checks"`
}

// A Doctor is what the checks need of the machine.
type Doctor struct {
	Config    string                             // the configuration; "": there is none
	Trusts    func(path string, src []byte) bool // of one that nobody has named, see [config.Options]; nil: Config was named
	Desk      *takeover.Desk
	Program   string            // this program
	Short     []string          // the PATH of programs of the desktop
	Proxies   []operator.Status // that run
	Services  *service.Manager  // of this user; nil: none is known
	StateDir  string
	Now       func() time.Time
	Waiting   func(servers []string) // is told while servers have not answered
	Done      func()                 // is told when it is over
	Connected takeover.Connection    // what connect would do, without the client

	loaded   *config.Config // nil: it does not load
	result   *policy.Result // nil: it does not build
	clients  []takeover.Inspection
	tools    []check.ListedTool
	answered bool // all of them: no upstream is missing
}

// A group is checks that are made together.
type group struct {
	name string
	look func(*Doctor, context.Context) []Finding
	slow bool // it asks others, and nothing that is mended changes what they say
}

// groups are all checks, in their order.
func groups() []group {
	return []group{
		{"config", (*Doctor).configuration, false}, {"audit", (*Doctor).audit, false}, {"state", (*Doctor).state, false},
		{"permissions", (*Doctor).permissions, false}, {"listen", (*Doctor).listen, false}, {"commands", (*Doctor).commands, false},
		{"upstreams", (*Doctor).upstreams, true}, {"clock", (*Doctor).clock, true}, {"clients", (*Doctor).clientFiles, false},
		{"direct", (*Doctor).directServers, false}, {"tools", (*Doctor).toolLimits, false}, {"people", (*Doctor).people, false}, {"hooks", (*Doctor).hooks, false},
	}
}

// Examine makes all checks.
func (d *Doctor) Examine(ctx context.Context) Report {
	var all []Finding
	for _, g := range groups() {
		all = append(all, d.run(ctx, g)...)
	}
	return report(all)
}

func (d *Doctor) run(ctx context.Context, g group) []Finding {
	found := g.look(d, ctx)
	for i := range found {
		f := &found[i]
		f.Check, f.Fixable = g.name, f.mend != nil
	}
	return found
}

func report(all []Finding) Report {
	r := Report{Checks: all}
	for _, f := range all {
		switch f.Status {
		case Failed:
			r.Failed++
		case Warning:
			r.Warnings++
		}
	}
	r.OK = r.Failed == 0
	return r
}

// Mend does what is safe of a report, each after a question, and makes the checks again for
// which that may matter. What a person declines stays.
func (d *Doctor) Mend(ctx context.Context, r Report) (Report, error) {
	mended := false
	for _, f := range r.Checks {
		if f.mend == nil {
			continue
		}
		switch err := d.mend(ctx, f.mend); {
		case errors.Is(err, takeover.ErrDeclined):
		case err != nil:
			return r, err
		default:
			mended = true
		}
	}
	if !mended {
		return r, nil
	}
	var all []Finding
	for _, g := range groups() {
		if g.slow {
			all = append(all, slices.DeleteFunc(slices.Clone(r.Checks), func(f Finding) bool { return f.Check != g.name })...)
			continue
		}
		all = append(all, d.run(ctx, g)...)
	}
	return report(all), nil
}

// mend shows what it would do, asks, and does it.
func (d *Doctor) mend(ctx context.Context, m *mend) error {
	if m.shows != "" {
		_, _ = fmt.Fprintln(d.Desk.Out, text.Escape(m.shows))
		if err := d.Desk.Agree("Do it?"); err != nil {
			return err
		}
	}
	return m.do(ctx)
}

// Print writes a line for each finding, its fix below it, and what they come to.
func (r *Report) Print(w io.Writer, ink text.Ink) error {
	var b strings.Builder
	fixable := 0
	for _, f := range r.Checks {
		fmt.Fprintf(&b, "%s  %-11s  %s\n", mark(f.Status, ink), f.Check, indented(f.Says))
		if f.Fix != "" {
			fmt.Fprintf(&b, "%24sfix: %s\n", "", indented(f.Fix))
		}
		if f.Fixable {
			fixable++
		}
	}
	fmt.Fprintf(&b, "%s: %d failed, %s", text.Count(len(r.Checks), "check"), r.Failed, text.Count(r.Warnings, "warning"))
	if fixable > 0 {
		fmt.Fprintf(&b, "; petrigate doctor --fix mends %d", fixable)
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

// indented puts the lines of a text below its first.
func indented(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = text.Escape(line)
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", 24))
}

func mark(status string, ink text.Ink) string {
	padded := fmt.Sprintf("%-7s", status)
	style := map[string]string{Failed: "31", Warning: "33", OK: "32"}[status]
	return ink.In(style, padded)
}

func ok(format string, args ...any) Finding {
	return Finding{Status: OK, Says: fmt.Sprintf(format, args...)}
}

func warning(fix, format string, args ...any) Finding {
	return Finding{Status: Warning, Says: fmt.Sprintf(format, args...), Fix: fix}
}

func failed(fix, format string, args ...any) Finding {
	return Finding{Status: Failed, Says: fmt.Sprintf(format, args...), Fix: fix}
}

// with adds what --fix does.
func (f Finding) with(shows string, do func(context.Context) error) Finding {
	f.mend = &mend{shows, do}
	return f
}
