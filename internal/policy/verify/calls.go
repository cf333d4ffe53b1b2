package verify

import (
	"cmp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A Call represents a set of calls that the policy cannot distinguish.
type Call struct {
	Name string // human-readable name: the last name that a map statement or an action gives to the call, or the tool if no such name exists
	Tool string
	Also []gate.Name // other names of the tool, from Options.Tools
	Args string      // JSON arguments; empty means {}

	// Doubtful is set if no arguments were found that give the call exactly the names in Mapped.
	// Such a call might not exist. Calls returns it only if Options.Doubtful is set.
	Doubtful bool
	Mapped   []gate.Name
}

// Calls returns one call of each kind that the policy's nets and the names in Options.Prove
// distinguish. If some kinds are missing, Calls also returns the reason.
func Calls(p *gate.Policy, o Options) (calls []Call, why string) {
	o.passes = true // include calls that are unknown to all nets
	m := newProver(p, &o)
	nets := list.Indexes(m.Nets, func(*explore.Net) bool { return true })
	classes, gap := m.ClassesFor(nets, nil)
	why = cmp.Or(m.Calls.AnyGap(), gap)
	for _, t := range (Each{o.Prove}).tools() {
		more, gap := m.Calls.Kinds(nets, taggerOf(t))
		classes, why = append(classes, more...), cmp.Or(why, gap)
	}
	for _, s := range classes {
		c := Call{Name: s.Name(), Tool: s.Tool, Also: m.also[s.Tool], Doubtful: s.Doubtful}
		mapped, ok := s.Mapped()
		switch {
		case !s.Doubtful:
			c.Args = s.Args
		case ok && o.Doubtful:
			c.Mapped = mapped
		default:
			why = "no arguments are known that match some of the maps together"
			continue
		}
		calls = append(calls, c)
	}
	return calls, why
}

// Synthesize returns a new name for each combination of patterns that can match the same name. If
// there are several prefixes, a combination also tells which patterns match the name after each
// prefix. The first prefix must be empty. Names in taken are not returned. complete is false if
// names might be missing, because a pattern is too long or the search reached its limit.
func Synthesize(patterns, prefixes []string, taken map[string]bool) (names []string, complete bool) {
	return callclass.Synthesize(patterns, prefixes, taken)
}
