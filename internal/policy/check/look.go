package check

import (
	"context"
	"errors"
	"slices"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
)

// Look builds the policy of a source and verifies it. The report also contains the given problems,
// which were found earlier in the configuration. If no tools are known, Look uses those that the
// rules suggest. If an error prevents the policy from being built, the returned policy is nil.
func Look(ctx context.Context, source policy.Source, problems diag.List, known ToolSet, e Effort) (Report, *policy.Result, error) {
	e = e.begun()
	source.Tools, source.Schemas, source.Hooked = known.Names(), known.Schemas, known.Hooked()
	source.Unended = known.Unended()
	result, err := policy.Build(source)
	var invalid diag.List
	if err != nil && !errors.As(err, &invalid) {
		return Report{}, nil, err
	}
	problems = slices.Concat(problems, result.Problems, NoPolicy(source), ShortSessions(source))
	if err != nil || ctx.Err() != nil {
		return NewReport(problems, result, known, nil), nil, ctx.Err()
	}
	problems = append(problems, e.widened(ctx, source, result)...)
	tools := known
	if !known.Known {
		tools = LikelyTools(source.Config, result)
	}
	v, err := Run(ctx, result, source, tools, e)
	if err != nil {
		return Report{}, nil, err
	}
	return NewReport(slices.Concat(problems, v.Problems()), result, known, v), result, nil
}
