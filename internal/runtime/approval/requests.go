package approval

import (
	"container/list"
	"fmt"
	"slices"
)

// requests is a broker's table of requests and of the accounts that the requests are charged to. It
// is guarded by Broker.mu.
type requests struct {
	options *Options

	byID     map[string]*Request
	byKey    map[Key]*Request // for each key, the request that is live or whose denial is in force
	accounts accounts

	// The following lists are in chronological order.
	live   list.List // requests that are pending or approved
	ended  list.List // requests that ended without a denial
	denied list.List
	recent list.List // unapproved requests opened within the last minute

	last lastApproved

	changed chan struct{} // created by Broker.Changed; closed and set to nil at the next change to a request
}

// checkAnswerable returns an error if q cannot be answered through the channel. It must be called
// with Broker.mu held.
func (t *requests) checkAnswerable(q *Request, id, channel string) error {
	switch {
	case q == nil:
		return fmt.Errorf("no approval %s is waiting", id)
	case t.check(q) != Pending:
		return fmt.Errorf("approval %s is already %s", id, q.progress.Answer.State)
	case q.Via != "" && q.Via != channel:
		return fmt.Errorf("approval %s can be answered only via %s: its rule requires it", id, q.Via)
	case !slices.Contains(q.open, channel):
		return fmt.Errorf("approval %s cannot be answered via this channel", id)
	}
	return nil
}
