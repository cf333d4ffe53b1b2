package approval

import (
	"cmp"
	"container/list"
	"errors"
)

// A limit bounds what one session, one principal, or all together may have in the
// broker. Nobody is asked about further calls of those who have reached it; the
// requests of others are not affected.
type limit struct {
	waiting int // requests that are pending, or approved and not used
	recent  int // of the last minute, of those that nobody has approved
	bytes   int // of calls that wait
	denied  int // denials that are kept
}

// limits are read-only.
var limits = struct{ session, principal, all limit }{
	session:   limit{waiting: 100, recent: 60, bytes: 32 << 20, denied: 100},
	principal: limit{waiting: 400, recent: 240, bytes: 64 << 20, denied: 1000},
	all:       limit{waiting: 10_000, recent: 6000, bytes: 512 << 20, denied: 10_000},
}

// The number of requests that are kept for operators after they ended without a
// denial: of one principal, and in all.
const (
	maxEnded    = 100
	maxEndedAll = 5000
)

var (
	errWaiting = errors.New("too many approvals are waiting already")
	errRecent  = errors.New("people were asked too often within a minute; wait a minute before you call it again")
	errBytes   = errors.New("the calls that wait for approvals are too large together")
	errDenied  = errors.New("people have denied too many calls lately")
)

// An account counts what one session, one principal, or all together have in the broker.
type account struct {
	name  string
	limit limit

	waiting, recent, bytes, denied int

	ended list.List // requests that ended without a denial, the oldest first; of principals only
}

// accounts are those to which something is charged, by name.
type accounts map[string]*account

// of returns the accounts that a request for c is charged to, the most
// specific first. A new account is kept once something is charged to it.
func (m accounts) of(c Call) [3]*account {
	return [3]*account{
		m.account("session "+c.Session, limits.session), m.account("principal "+c.Principal, limits.principal), m.account("", limits.all),
	}
}

func (m accounts) account(name string, l limit) *account {
	return cmp.Or(m[name], &account{name: name, limit: l})
}

// full returns why nothing more can be charged to a, or nil.
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

// put changes the accounts of q.
func (m accounts) put(q *Request, change func(*account)) {
	for _, a := range q.accounts {
		change(a)
		if a.waiting == 0 && a.recent == 0 && a.denied == 0 && a.ended.Len() == 0 {
			delete(m, a.name)
		} else {
			m[a.name] = a
		}
	}
}

// room reports whether q can grow by n bytes.
func (q *Request) room(n int) bool {
	for _, a := range q.accounts {
		if a.bytes+n > a.limit.bytes {
			return false
		}
	}
	return true
}

// weight returns the bytes of calls that q keeps in memory with so many calls
// waiting: the message of each, and what is kept beside them. Without a copy, q itself keeps
// one message.
func (q *Request) weight(waiters int) int {
	switch {
	case !q.live():
		return 0
	case q.question.Call.copied == 0:
		waiters = max(1, waiters)
	}
	return q.Size*waiters + q.question.Call.copied + len(q.question.Call.exact) + q.question.Since.bytes()
}

// weigh charges the present weight of q to its accounts.
func (m accounts) weigh(q *Request) {
	n := q.weight(q.waiters)
	if more := n - q.weighed; more != 0 {
		q.weighed = n
		m.put(q, func(a *account) { a.bytes += more })
	}
}
