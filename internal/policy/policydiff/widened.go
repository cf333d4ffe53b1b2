package policydiff

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// Codes of problems with a configuration that extends a base policy.
const (
	Widens      = "E112" // the configuration admits calls that the base does not admit
	NotNarrower = "E113" // no proof was found that the configuration admits only calls that the base admits
)

// widenedTime is the time limit of [Widened].
const widenedTime = 5 * time.Second

// Widened tries to prove that the configuration c narrows its base policies: that it admits only
// calls that they admit, and requires at least as many approvals. It returns an error for each base
// policy without such a proof. result must be the policy built from c.
func Widened(ctx context.Context, c *config.Config, result *policy.Result) (found diag.List) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spent := check.WorkClock()
	stop := func() bool { return ctx.Err() != nil || spent() > widenedTime }
	for _, b := range c.Bases {
		if p := widened(c, b, result, stop); p != nil {
			found = append(found, *p)
		}
	}
	return found
}

func widened(c *config.Config, b config.Base, result *policy.Result, stop func() bool) *diag.Problem {
	base := policy.Source{Rules: b.Rules, Nets: b.Nets, Default: b.Default, Mode: b.Mode}
	d, err := overBase(base, result, policy.FromConfig(c), stop)
	var p diag.Problem
	at := b.Entry
	if err == nil {
		at = d.mapOver(b.Entry)
	}
	switch {
	case err != nil:
		p = diag.At(b.Entry, fmt.Sprintf("the base policy %q cannot be compared with the configuration: %v", b.Name, err), "")
		p.Code = NotNarrower
	case d.Looser != nil:
		p = diag.At(at, fmt.Sprintf("the configuration allows what the base policy %q does not:\n%s", b.Name, d.Text("the base policy", "the configuration")), "remove the map, the allow or the exemption that lets the call pass: a configuration may only narrow its base")
		p.Code = Widens
	case !d.Excludes("looser"):
		p = diag.At(at, fmt.Sprintf("cannot prove that the configuration allows no more than the base policy %q: %s", b.Name, d.why), "use only rules, nets, and maps for names that the base does not use: they certainly narrow")
		p.Code = NotNarrower
	default:
		return nil
	}
	p.Severity = diag.Error
	return &p
}

// mapOver returns the position for an error about the comparison. It looks for map statements that
// only one of the policies has and that assign a name used by the base's nets. If there is exactly
// one, and its position is known, mapOver returns this position. Otherwise, it returns the given
// position.
func (d *Comparison) mapOver(at config.Position) config.Position {
	over := list.Filter(unsharedMaps(d.sides[0], d.sides[1]), func(m gate.Map) bool {
		return slices.ContainsFunc(d.sides[0].nets, func(n gate.NetInfo) bool { return reads(n, []gate.Map{m}) })
	})
	if len(over) == 1 && over[0].Rule.File != "" {
		return config.Position(over[0].Rule)
	}
	return at
}
