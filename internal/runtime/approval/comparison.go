package approval

import (
	"time"

	"github.com/petrigate/petrigate/internal/jsondiff"
)

const (
	maxCompared = 8 << 10 // maximum size in bytes of compared arguments
	maxChanges  = 20      // maximum number of changes that are listed
)

// A Comparison describes how a call's arguments differ from those of the last approved call of the
// same tool by the same principal.
type Comparison struct {
	Approval  string    // ID of the last approval
	At        time.Time // time of the last approval
	Redefined bool      // the tool had another definition at that time
	TooLong   bool      // the arguments of one of the calls are longer than maxCompared, so they are not compared
	Changes   []Change
	More      int // number of changes that are not listed
}

// A Change is a changed argument value in its displayed form.
type Change = jsondiff.Change

// size returns c's memory use.
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
