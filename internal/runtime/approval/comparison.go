package approval

import (
	"time"

	"github.com/petrigate/petrigate/internal/jsondiff"
)

const (
	maxCompared = 8 << 10 // maximum size in bytes of arguments that are compared
	maxChanges  = 20      // maximum number of changes to list
)

// A Comparison describes how the arguments of a call differ from those of the last approved call to
// the same tool by the same principal.
type Comparison struct {
	Approval  string    // approval ID of the last approved call
	At        time.Time // time of that approval
	Redefined bool      // whether the tool's definition has changed since that approval
	TooLong   bool      // whether the arguments of either call are too long to be compared (see maxCompared), or are not fully known
	Changes   []Change
	More      int // number of changes left out of Changes
}

// A Change is a difference in one argument, as displayed.
type Change = jsondiff.Change

// size returns the number of bytes in c's changes.
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
