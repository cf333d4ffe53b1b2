package relay

import (
	"context"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/pool"
)

// anyPrompt reports whether all prompts/get requests go to the only server, no matter what the name
// is.
func (p *Relay) anyPrompt() bool {
	return !p.Admission.Generation().PromptsByList && p.passesThrough(PromptList)
}

// NamesPrompts reports whether a net contains the name of a prompt. If so, only names in lists can
// be called, because a tolerant server might accept a different spelling for that prompt.
func NamesPrompts(policy *gate.Policy) bool {
	for _, n := range policy.Nets() {
		for _, t := range n.Transitions {
			if !n.Shadow && slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return strings.HasPrefix(tool.Name, "prompt:") }) {
				return true
			}
		}
	}
	return false
}

// Prompt returns the prompt with the given exposed name. If necessary, it requests the lists of the
// servers.
func (p *Relay) Prompt(ctx context.Context, name string) (pool.Item, bool) {
	p.Pool.AwaitUpstreams(ctx)
	if i, ok := p.KnownPrompt(name); ok {
		return i, true
	}
	upstreams := p.Pool.Offering("prompts")
	if len(upstreams) == 0 || p.anyPrompt() {
		return pool.Item{}, false
	}
	p.gatherAll(ctx, PromptList, upstreams)
	return p.prompts.get(name)
}

// KnownPrompt is like Prompt, but never sends a request to a server.
func (p *Relay) KnownPrompt(name string) (pool.Item, bool) {
	if !p.anyPrompt() {
		return p.prompts.get(name)
	}
	upstreams := p.Pool.Offering("prompts")
	if len(upstreams) == 0 {
		return pool.Item{}, false
	}
	return pool.Item{Upstream: upstreams[0], Key: name, Exposed: name}, true
}
