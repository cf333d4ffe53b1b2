package approval

import "container/list"

// requests is the table of a broker's requests, with their accounts. All methods require Broker.mu.
type requests struct {
	options *Options

	byID     map[string]*Request
	byKey    map[Key]*Request // the live request, or a denial in force
	accounts accounts

	// In chronological order.
	live   list.List // pending or approved
	ended  list.List // ended without a denial
	denied list.List
	recent list.List // opened within the last minute and not approved

	last lastApproved

	changed chan struct{} // closed at the next change of a request; nil: no waiter
}

func newRequests(o *Options) requests {
	return requests{options: o, byID: map[string]*Request{}, byKey: map[Key]*Request{}, accounts: accounts{}}
}
