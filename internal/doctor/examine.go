package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/takeover"
	"github.com/petrigate/petrigate/internal/text"
)

// A group is a set of checks that run together.
type group struct {
	name string
	look func(*Doctor, context.Context) []Finding
	slow bool // whether the checks query other programs; Mend need not repeat such checks, because no fix can change the answers
}

// groups returns all groups in the order they run.
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

// Mend asks about each safe fix in the report, applies the accepted fixes, and runs the affected
// checks again. Findings with declined fixes remain in the report.
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

// mend shows a fix, asks for confirmation, and applies the fix.
func (d *Doctor) mend(ctx context.Context, m *mend) error {
	if m.shows != "" {
		_, _ = fmt.Fprintln(d.Desk.Out, text.Escape(m.shows))
		if err := d.Desk.Agree("Apply this fix?"); err != nil {
			return err
		}
	}
	return m.apply(ctx)
}
