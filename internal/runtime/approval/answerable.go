package approval

import (
	"fmt"
	"slices"
)

// answerable returns the reason why no answer through the channel counts for q, or nil. Requires
// Broker.mu.
func (t *requests) answerable(q *Request, id, channel string) error {
	switch {
	case q == nil:
		return fmt.Errorf("no approval %s is waiting", id)
	case t.check(q) != Pending:
		return fmt.Errorf("approval %s is already %s", id, q.progress.Answer.State)
	case q.Via != "" && q.Via != channel:
		return fmt.Errorf("approval %s can be answered only via %s: its rule requires it", id, q.Via)
	case !slices.Contains(q.open, channel):
		return fmt.Errorf("approval %s is not open on the channel of this answer", id)
	}
	return nil
}
