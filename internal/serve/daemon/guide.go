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
	tools  func() toolset               // returns the current tools
	met    func() []string              // returns the names of the agents whose hooks have reported calls
	apart  bool                         // whether calls from hooks run in separate sessions
	finder atomic.Pointer[remedyFinder] // finder for the most recently used policy; nil at first
}

// way returns the shortest sequence of calls that would make c allowed.
func (g *guide) way(s *gate.State, c gate.Call, r *gate.Refusal) console.WayOut {
	f := g.finder.Load()
	if f == nil || f.policy != s.Policy() {
		f = &remedyFinder{policy: s.Policy(), tools: g.tools, met: g.met, apart: g.apart}
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
