package relay

import (
	"context"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/pool"
)

// anyPrompt reports whether the only server gets all prompts/get requests, whatever the name.
func (p *Relay) anyPrompt() bool {
	return !p.Admission.Generation().PromptsByList && p.passesThrough(PromptList)
}

// NamesPrompts reports whether a net names a prompt. If so, only listed names can be called,
// because a lenient server might accept a different spelling for that prompt.
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

// Prompt returns the prompt with the given exposed name. If necessary, it requests the servers'
// lists.
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

// KnownPrompt is like Prompt, but never asks a server.
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
