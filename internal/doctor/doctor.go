// Package doctor looks for what breaks in practice: a configuration that does not load, files that
// others may write, commands that desktop programs do not find, clients that reach servers without
// petrigate. Each finding names its fix. A fix that is safe is applied after the user agrees.
//
// A [Doctor] holds what the checks need to know about the machine. [Doctor.Examine] runs the checks
// in a fixed order of groups and returns a [Report] with one [Finding] per thing that was checked.
// [Doctor.Mend] applies the safe fixes of a report and runs the affected groups again.
//
// Later groups use the results of earlier ones, which the Doctor stores: the loaded configuration,
// the built policy, the files of clients, and the tools of the upstreams. A group whose input is
// missing because an earlier group failed reports nothing. A Doctor is used by one goroutine; only
// the clock check queries the upstreams concurrently.
//
// The doctor starts the upstreams to list their tools. It starts no other program: it reads
// versions from files.
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

// The values of Finding.Status.
const (
	OK      = "ok"
	Warning = "warning"
	Failed  = "failed"
)

// A Finding is the result of one check for one thing, such as a file or an upstream.
type Finding struct {
	Check   string `json:"check"`
	Status  string `json:"status"`
	Says    string `json:"says"`
	Fix     string `json:"fix,omitempty"`
	Fixable bool   `json:"fixable"` // --fix can fix it

	mend *mend
}

// A mend is a safe fix.
type mend struct {
	shows string // text shown before the question; "": do shows it and asks
	do    func(context.Context) error
}

// A Report holds the findings of all checks.
type Report struct {
	OK       bool      `json:"ok"` // no check failed
	Failed   int       `json:"failed"`
	Warnings int       `json:"warnings"`
	Checks   []Finding `json:"checks"`
}

// A Doctor holds what the checks need to know about this machine, and the results that later checks
// use. Its exported fields are set by the caller before Examine.
type Doctor struct {
	Config    string                             // path of the configuration; "": no configuration exists
	Trusts    func(path string, src []byte) bool // accepts a file found in the working directory, see [config.Options]; nil: Config was named
	Desk      *takeover.Desk
	Program   string            // path of this program
	Short     []string          // PATH of programs started from the desktop
	Proxies   []operator.Status // running proxies
	Services  *service.Manager  // service manager of this user; nil: not supported
	StateDir  string
	Now       func() time.Time
	Waiting   func(servers []string) // called while servers have not answered
	Done      func()                 // called when all servers have answered or failed
	Connected takeover.Connection    // what connect would write, without the client

	loaded   *config.Config // nil: the configuration does not load
	result   *policy.Result // nil: the policy does not build
	clients  []takeover.Inspection
	tools    []check.ListedTool
	answered bool // all upstreams have listed their tools
}

// A group is a set of checks that are made together.
type group struct {
	name string
	look func(*Doctor, context.Context) []Finding
	slow bool // it queries other programs, and no fix changes its result
}

// groups returns all groups in the order of their execution.
func groups() []group {
	return []group{
		{"config", (*Doctor).configuration, false}, {"audit", (*Doctor).audit, false}, {"state", (*Doctor).state, false},
		{"permissions", (*Doctor).permissions, false}, {"listen", (*Doctor).listen, false}, {"commands", (*Doctor).commands, false},
		{"upstreams", (*Doctor).upstreams, true}, {"clock", (*Doctor).clock, true}, {"clients", (*Doctor).clientFiles, false},
		{"direct", (*Doctor).directServers, false}, {"tools", (*Doctor).toolLimits, false}, {"people", (*Doctor).people, false}, {"hooks", (*Doctor).hooks, false},
	}
}

// Examine runs all checks.
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

// Mend applies the safe fixes of a report, each after a question, and runs the affected checks
// again. The findings that the user declines to fix stay in the report.
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

// mend shows a fix, asks, and applies it.
func (d *Doctor) mend(ctx context.Context, m *mend) error {
	if m.shows != "" {
		_, _ = fmt.Fprintln(d.Desk.Out, text.Escape(m.shows))
		if err := d.Desk.Agree("Do it?"); err != nil {
			return err
		}
	}
	return m.do(ctx)
}

// Print writes a line for each finding, with its fix below it, and a summary.
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

// indented escapes s and indents all lines after the first.
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

// with adds the fix that --fix applies.
func (f Finding) with(shows string, do func(context.Context) error) Finding {
	f.mend = &mend{shows, do}
	return f
}
