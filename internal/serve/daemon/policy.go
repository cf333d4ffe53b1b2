package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
)

// Policy builds the configured policy, proves its claims, and returns the warnings for the user. If
// a claim is refuted, it returns an error of type [diag.List].
func Policy(ctx context.Context, c *config.Config) (*policy.Result, diag.List, error) {
	source := policy.FromConfig(c)
	result, err := policy.Build(source)
	if err != nil {
		return nil, nil, err
	}
	if err := CheckBases(c); err != nil {
		return nil, nil, err
	}
	if widened := policydiff.Widened(ctx, c, result); len(widened) > 0 {
		return nil, nil, widened
	}
	v, err := check.Run(ctx, result, source, check.LikelyTools(c, result), effort(len(result.Claims)))
	if err != nil {
		return nil, nil, err
	}
	found := v.Problems()
	if refuted := found.Of(diag.Error); len(refuted) > 0 {
		return nil, nil, refuted
	}
	return result, slices.Concat(check.ConfigWarnings(c), result.Problems.Of(diag.Warning),
		check.NoPolicy(source), check.NoUpstream(c), check.Sessions(c), check.ShortSessions(source), found), nil
}

// effort returns limits on the work spent at startup to prove the given number of claims.
func effort(claims int) check.Effort {
	e := check.AtStart(claims)
	e.Now, e.Narrower = time.Now, policydiff.Narrower
	return e
}

// Runnable checks whether this machine can use the commands and TLS files named in the
// configuration. It returns warnings, or an error of type [diag.List] that lists everything that
// cannot be used.
func Runnable(c *config.Config) (diag.List, error) {
	found := slices.Concat(check.MissingCommands(c, diag.Error), TLSProblems(c, diag.Error))
	if errs := found.Of(diag.Error); len(errs) > 0 {
		return nil, errs
	}
	return found, nil
}
