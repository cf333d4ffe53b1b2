package approval

import (
	"time"

	"github.com/petrigate/petrigate/internal/jsondiff"
)

const (
	maxCompared = 8 << 10 // bytes of compared arguments
	maxChanges  = 20      // listed changes
)

// A Comparison describes how the arguments of a call differ from those of the last approved call of
// the same tool and principal.
type Comparison struct {
	Approval  string    // ID of the last approval
	At        time.Time // time of the last approval
	Redefined bool      // the tool had another definition
	TooLong   bool      // arguments are not compared because one side is longer than maxCompared
	Changes   []Change
	More      int // number of changes that are not listed
}

// A Change is a changed argument value in its displayed form.
type Change = jsondiff.Change

// size returns the memory used by c.
func (c *Comparison) size() int {
	if c == nil {
		return 0
	}
	n := 0
	for _, change := range c.Changes {
		n += len(change.Path) + len(change.Was) + len(change.Is)
	}
	return n
}
