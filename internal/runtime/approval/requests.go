package approval

import (
	"container/list"
	"fmt"
	"slices"
)

// requests is a broker's table of requests and their accounts. Callers of its methods must hold
// Broker.mu.
type requests struct {
	options *Options

	byID     map[string]*Request
	byKey    map[Key]*Request // for each key, the live request or a denial in force
	accounts accounts

	// In chronological order.
	live   list.List // requests that are pending or approved
	ended  list.List // requests that ended without a denial
	denied list.List
	recent list.List // opened within the last minute and not approved

	last lastApproved

	changed chan struct{} // closed when a request next changes; nil: no waiter
}

// answerable returns the reason why an answer to q through the channel cannot count, or nil if it
// can. The caller must hold Broker.mu.
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
