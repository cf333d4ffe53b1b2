package mining

import (
	"time"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/rules"
)

// DefaultSessions is the default of [Options].Sessions.
const DefaultSessions = 20

// Options configures [Mine].
type Options struct {
	Maps     []*rules.Map                    // the policy's map statements, which give calls additional names; needed for rules about such names
	Sessions int                             // minimum number of sessions that must support a rule; 0 means DefaultSessions
	Deny     bool                            // whether the policy refuses all calls not named in a rule
	Progress func(stage string, records int) // may be nil
}

// A Miner searches a log for rules. It is not safe for concurrent use.
type Miner struct {
	log      Log
	least    int
	deny     bool
	maps     []*rules.Map
	cut      bool
	whole    time.Time
	progress func(stage string, records int)

	survey *survey
	names  []string
	kinds  []toolkind.Kind
	seen   *ruleActivity
}

func (m *Miner) stage(name string) func(int) {
	return func(records int) {
		if m.progress != nil {
			m.progress(name, records)
		}
	}
}
