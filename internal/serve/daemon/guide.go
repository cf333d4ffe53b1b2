package daemon

import (
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/serve/console"
)

// A guide tells the console which calls must succeed before a refused call would be allowed. It is
// safe for concurrent use.
type guide struct {
	remedies func(*gate.Policy) *remedyFinder // returns a new [remedyFinder] for a policy
	finder   atomic.Pointer[remedyFinder]     // remedy finder for the most recently used policy; nil at first
}

// way finds the shortest sequence of calls that must succeed before the refused call c would be
// allowed. If no sequence exists or none is known, the result contains a sentence that explains
// this.
func (g *guide) way(s *gate.State, c gate.Call, r *gate.Refusal) console.WayOut {
	f := g.finder.Load()
	if f == nil || f.policy != s.Policy() {
		f = g.remedies(s.Policy())
		g.finder.Store(f)
	}
	found, known := f.findAny(s, c, r)
	if !known {
		return console.WayOut{Sentence: verify.OwnToolMay}
	}
	way := console.WayOut{Sentence: found.Sentence(c.Tool)}
	if found.Found {
		way.Calls = found.Calls()
	}
	if way.Sentence == "" && found.Why != "" {
		way.Sentence = "No way out is known: " + found.Why + "."
	}
	return way
}
