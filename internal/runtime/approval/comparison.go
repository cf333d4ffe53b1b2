package approval

import (
	"time"

	"github.com/petrigate/petrigate/internal/jsondiff"
)

const (
	maxCompared = 8 << 10 // bytes of arguments that are compared
	maxChanges  = 20      // that are listed
)

// A Comparison says how the arguments of a call differ from those of the last call of its
// tool that people have approved for its principal.
type Comparison struct {
	Approval  string    // of that call
	At        time.Time // when it was approved
	Redefined bool      // the definition of the tool was another one
	TooLong   bool      // one of the two is longer than maxCompared, so that they are not compared
	Changes   []Change
	More      int // changes that are not listed
}

// A Change is a value of the arguments that differs, as people see it.
type Change = jsondiff.Change

// bytes is how much c keeps.
func (c *Comparison) bytes() int {
	if c == nil {
		return 0
	}
	n := 0
	for _, change := range c.Changes {
		n += len(change.Path) + len(change.Was) + len(change.Is)
	}
	return n
}
