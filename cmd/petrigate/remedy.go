package main

import (
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/proxy"
)

// A wayfinder names the way out of refusals, by the tools that are there.
type wayfinder struct {
	policy *gate.Policy
	names  func() []gate.Call // of the tools that can be called

	mu    sync.Mutex
	known []gate.Call
	guide *verify.Guide // for known; nil: none was needed yet
}

func newWayfinder(result *policy.Result, names func() []gate.Call) *wayfinder {
	return &wayfinder{policy: result.Policy, names: names}
}

// remedy is what a client is told about a refusal.
func (w *wayfinder) remedy(s *gate.State, c gate.Call, r *gate.Refusal) proxy.Remedy {
	found := w.of(w.names()).Remedy(s, c, r)
	told := proxy.Remedy{Text: found.Sentence(c.Tool), Steps: found.Calls(), None: found.None}
	if found.None && !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Cause != gate.CauseBlock }) {
		told.Text = "" // "cannot be called" says it
	}
	return told
}

// of is the guide for these tools. It is made anew where they have changed.
func (w *wayfinder) of(names []gate.Call) *verify.Guide {
	same := func(a, b gate.Call) bool { return a.Tool == b.Tool && slices.Equal(a.Also, b.Also) }
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.guide != nil && slices.EqualFunc(names, w.known, same) {
		return w.guide
	}
	o := verify.Options{Tools: make([]verify.Tool, len(names))}
	for i, n := range names {
		o.Tools[i] = verify.Tool{Name: n.Tool, Also: n.Also}
	}
	w.known, w.guide = names, verify.NewGuide(w.policy, o)
	return w.guide
}
