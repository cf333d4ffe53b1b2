package approval

import (
	"cmp"
	"container/list"
	"errors"
)

// A limit is what one session, one principal, or all together may have in the
// book. Who reaches it is asked about no further call for the time being; the
// questions of others do not suffer.
type limit struct {
	waiting int // questions that are pending, or approved and not used
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

// How many questions that ended without a denial are kept to be looked at: of
// one principal, and in all.
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

// An account is what one session, one principal, or all together have in the book.
type account struct {
	name  string
	limit limit

	waiting, recent, bytes, denied int

	ended list.List // questions that ended without a denial, the oldest first; of principals only
}

// accountsOf are those that a question of the session and the principal is put
// down to, most special first. A new one is in the book once something is put
// down to it.
func (b *Book) accountsOf(c Call) [3]*account {
	return [3]*account{
		b.account("session "+c.Session, limits.session), b.account("principal "+c.Principal, limits.principal), b.account("", limits.all),
	}
}

func (b *Book) account(name string, l limit) *account {
	return cmp.Or(b.accounts[name], &account{name: name, limit: l})
}

// full is why nothing more can be put down to an account; nil: it can.
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

// put changes what is put down to the accounts of q.
func (b *Book) put(q *Question, change func(*account)) {
	for _, a := range q.accounts {
		change(a)
		if a.waiting == 0 && a.recent == 0 && a.denied == 0 && a.ended.Len() == 0 {
			delete(b.accounts, a.name)
		} else {
			b.accounts[a.name] = a
		}
	}
}

// room reports whether q can grow by n bytes.
func (q *Question) room(n int) bool {
	for _, a := range q.accounts {
		if a.bytes+n > a.limit.bytes {
			return false
		}
	}
	return true
}

// weight is the bytes of calls that q keeps: its own, and those of the calls
// that came after the first and wait too.
func (q *Question) weight(waiters int) int {
	if q.live() {
		return q.Size * max(1, waiters)
	}
	return 0
}

// weigh puts down what q weighs now.
func (b *Book) weigh(q *Question) {
	n := q.weight(q.waiters)
	if more := n - q.weighed; more != 0 {
		q.weighed = n
		b.put(q, func(a *account) { a.bytes += more })
	}
}
