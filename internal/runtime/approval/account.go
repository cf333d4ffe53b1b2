package approval

import (
	"cmp"
	"errors"
	"slices"
)

// A limit bounds the requests of one session, one principal, or all callers together. A call that
// would exceed a limit is refused without asking a person. The limits of a session and a principal
// are low, so that a single caller cannot exhaust the limit that applies to all callers.
type limit struct {
	waiting int // maximum number of requests that are pending, or that are approved but not used yet
	recent  int // maximum number of requests opened within a minute; approved requests do not count, nor do requests withdrawn before anyone was asked
	bytes   int // maximum memory in bytes for the pending and approved requests; see Request.weight
	denied  int // maximum number of denials in force; see Options.Cooldown
}

// limits holds the limit for each kind of account. It must not be modified.
var limits = struct{ session, principal, all limit }{
	session:   limit{waiting: 100, recent: 60, bytes: 32 << 20, denied: 100},
	principal: limit{waiting: 400, recent: 240, bytes: 64 << 20, denied: 1000},
	all:       limit{waiting: 10_000, recent: 6000, bytes: 512 << 20, denied: 10_000},
}

// Maximum numbers of ended requests that are kept for operators, per principal and in total.
// Denials do not count.
const (
	maxEnded    = 100
	maxEndedAll = 5000
)

var (
	errWaiting = errors.New("too many approvals are waiting already")
	errRecent  = errors.New("too many approvals were requested in the last minute; wait a minute before you call it again")
	errBytes   = errors.New("the calls that wait for approval are too large in total")
	errDenied  = errors.New("too many calls were denied recently")
)

// An account counts the requests of one session, one principal, or all callers together.
type account struct {
	name  string
	limit limit

	waiting, recent, bytes, denied int

	ended []*Request // requests that ended without a denial, oldest first; set only for principals
}

// accounts maps account names to the accounts that have requests.
type accounts map[string]*account

// charged returns the accounts to charge for a request about the call c: those of the session, of
// the principal, and of all callers. It creates missing accounts without adding them to m.
func (m accounts) charged(c Call) [3]*account {
	return [3]*account{
		m.account("session "+c.Session, limits.session), m.account("principal "+c.Principal, limits.principal), m.account("", limits.all),
	}
}

func (m accounts) account(name string, l limit) *account {
	return cmp.Or(m[name], &account{name: name, limit: l})
}

// full returns an error if the account cannot take another request.
func (a *account) full() error {
	switch {
	case a.waiting >= a.limit.waiting:
		return errWaiting
	case a.recent >= a.limit.recent:
		return errRecent
	case a.denied >= a.limit.denied:
		return errDenied
	}
	return nil
}

// update calls change for each account of q. It then removes from m the accounts that count no
// requests, and adds the others.
func (m accounts) update(q *Request, change func(*account)) {
	for _, a := range q.accounts {
		change(a)
		if a.waiting == 0 && a.recent == 0 && a.denied == 0 && len(a.ended) == 0 {
			delete(m, a.name)
		} else {
			m[a.name] = a
		}
	}
}

// room reports whether another n bytes fit within the limits of all accounts of q.
func (q *Request) room(n int) bool {
	return !slices.ContainsFunc(q.accounts[:], func(a *account) bool { return a.bytes+n > a.limit.bytes })
}

// weight returns the memory in bytes that q uses while the given number of calls wait for it. It
// includes the messages of these calls and the values that q has copied. If q has copied nothing,
// it keeps the message of its first call in memory even if no call is waiting. The weight of an
// ended request is 0.
func (q *Request) weight(waiters int) int {
	switch {
	case !q.live():
		return 0
	case q.question.Call.copied == 0:
		waiters = max(1, waiters)
	}
	return q.Size*waiters + q.question.Call.copied + len(q.question.Call.exact) + q.question.Since.size()
}

// recharge replaces the weight charged to q's accounts with q's current weight.
func (m accounts) recharge(q *Request) {
	n := q.weight(q.waiters)
	if more := n - q.charged; more != 0 {
		q.charged = n
		m.update(q, func(a *account) { a.bytes += more })
	}
}
