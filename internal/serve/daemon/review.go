package daemon

import (
	"context"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// A review checks a proxy's policy against the upstreams' tools as soon as these are known. It
// finds rules that never apply because a tool name is misspelled, and rules that may refer to the
// same tool by different names.
type review struct {
	config *config.Config
	shown  map[string]bool // problems that were shown at startup and are not reported again
	stop   context.CancelFunc
	done   chan struct{}
}

func newReview(c *config.Config, shown diag.List) *review {
	r := &review{config: c, shown: make(map[string]bool), done: make(chan struct{})}
	for _, p := range shown {
		r.shown[p.Error()] = true
	}
	return r
}

// start starts the review of a running proxy. The review ends by itself, or when Close is called.
func (r *review) start(d *Daemon) {
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go func() {
		defer close(r.done)
		d.AwaitTools(ctx)
		tools, err := d.Tools("")
		if err != nil || len(tools) == 0 || d.hasSilentUpstreams() || ctx.Err() != nil {
			return // tools that are not listed yet must not be reported as misspelled
		}
		defer d.processors.useAll()() // use all processors, so that the review does not delay calls
		for _, found := range r.problems(ctx, check.KnownSet(ListedTools(tools), r.config)) {
			if !r.shown[found.Error()] {
				d.log.Warn("policy problem, now that the tools are known", "problem", found.Error())
			}
		}
	}()
}

// Close ends the review if it is running.
func (r *review) Close() {
	if r.stop != nil {
		r.stop()
		<-r.done
	}
}

// problems returns the problems found by checking the policy against the given tools.
func (r *review) problems(ctx context.Context, tools check.ToolSet) diag.List {
	source := policy.FromConfig(r.config)
	source.Tools, source.Schemas, source.Hooked = tools.Names(), tools.Schemas, tools.Hooked()
	result, err := policy.Build(source)
	if err != nil {
		return nil // cannot fail: the same policy has been built before
	}
	v, err := check.Run(ctx, result, source, tools, effort(len(result.Claims)))
	if err != nil || ctx.Err() != nil {
		return result.Problems
	}
	return append(result.Problems, v.Problems()...)
}
