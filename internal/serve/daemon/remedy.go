package daemon

import (
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/proxy"
)

// A remedyFinder finds the way out of refusals, by the tools that are there.
type remedyFinder struct {
	policy *gate.Policy
	names  func() []gate.Call // of the tools that can be called

	mu    sync.Mutex
	known []gate.Call
	guide *verify.RemedyFinder // for known; nil: none was needed yet
}

// remedy is what a client is told with a refusal.
func (f *remedyFinder) remedy(s *gate.State, c gate.Call, r *gate.Refusal) proxy.Remedy {
	found := f.of(f.names()).Remedy(s, c, r)
	told := proxy.Remedy{Text: found.Sentence(c.Tool), Steps: found.Calls(), None: found.None}
	if found.None && !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Cause != gate.CauseBlock }) {
		told.Text = "" // "cannot be called" says it
	}
	return told
}

// of is the guide for these tools. It is made anew where they have changed.
func (f *remedyFinder) of(names []gate.Call) *verify.RemedyFinder {
	same := func(a, b gate.Call) bool { return a.Tool == b.Tool && slices.Equal(a.Also, b.Also) }
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.guide != nil && slices.EqualFunc(names, f.known, same) {
		return f.guide
	}
	o := verify.Options{Tools: make([]verify.Tool, len(names))}
	for i, n := range names {
		o.Tools[i] = verify.Tool{Name: n.Tool, Also: n.Also}
	}
	f.known, f.guide = names, verify.NewRemedyFinder(f.policy, o)
	return f.guide
}
