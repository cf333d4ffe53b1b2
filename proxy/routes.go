package proxy

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
)

// A table says which upstream has what, as the lists showed it last. It is
// asked where there is more than one upstream.
type table struct {
	view atomic.Pointer[map[string]item] // by what the clients call it
}

func (t *table) set(items []item) {
	byName := make(map[string]item, len(items))
	for _, i := range items {
		byName[i.exposed] = i
	}
	t.view.Store(&byName)
}

func (t *table) get(name string) (item, bool) {
	view := t.view.Load()
	if view == nil {
		return item{}, false
	}
	i, ok := (*view)[name]
	return i, ok
}

// table is the one that a list fills.
func (p *Proxy) table(kind listKind) *table {
	switch kind {
	case promptList:
		return &p.prompts
	case resourceList:
		return &p.resources.listed
	}
	return &p.resources.templates
}

// anyPrompt reports whether every name goes to the only upstream, which knows
// what prompts it has.
func (p *Proxy) anyPrompt() bool {
	return !p.admission.Generation().PromptsByList && p.passesThrough(promptList)
}

// namesPrompts reports whether some net is about a prompt by its name. Then
// names count that are listed, and no others: a server may be lenient and take
// another spelling for the one that the net is about.
func namesPrompts(policy *gate.Policy) bool {
	for _, n := range policy.Nets() {
		for _, t := range n.Transitions {
			if !n.Shadow && slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return strings.HasPrefix(tool.Name, "prompt:") }) {
				return true
			}
		}
	}
	return false
}

// prompt finds the prompt that clients call by a name. It may ask the
// upstreams for their lists.
func (p *Proxy) prompt(ctx context.Context, name string) (item, bool) {
	p.awaitUpstreams(ctx)
	if i, ok := p.knownPrompt(name); ok {
		return i, true
	}
	upstreams := p.offering("prompts")
	if len(upstreams) == 0 || p.anyPrompt() {
		return item{}, false
	}
	p.gatherAll(ctx, promptList, upstreams)
	return p.prompts.get(name)
}

// knownPrompt is prompt without asking anybody.
func (p *Proxy) knownPrompt(name string) (item, bool) {
	if !p.anyPrompt() {
		return p.prompts.get(name)
	}
	upstreams := p.offering("prompts")
	if len(upstreams) == 0 {
		return item{}, false
	}
	return item{upstream: upstreams[0], key: name, exposed: name}, true
}
