package store

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// admittedCall is a call that was not sent, although its admission may have been committed.
type admittedCall struct {
	session admission.Key
	call    uint64
	record  string
}

// uncertainCalls holds the refused calls whose admissions may nevertheless have been committed.
type uncertainCalls struct {
	database backend.Backend
	calls    []admittedCall
	records  int // number of records in the uncertain commits
}

// unsentCalls holds the calls that were refused although their admissions were committed.
type unsentCalls struct {
	mu    sync.Mutex
	calls []admittedCall
}

func (u *unsentCalls) add(calls ...admittedCall) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls = append(u.calls, calls...)
}

func (u *unsentCalls) takeAll() []admittedCall {
	u.mu.Lock()
	defer u.mu.Unlock()
	calls := u.calls
	u.calls = nil
	return calls
}

// finish determines which steps of a commit with an unknown outcome were committed. It returns the
// steps whose records are in the database. All other steps end as stale: their rows are read again,
// and their callers make new decisions. This includes steps without records, although they may have
// been committed.
//
// If the database cannot be read, all steps fail with the given error. Later,
// [uncertainCalls.resolve] determines which of their calls were admitted.
func (u *uncertainCalls) finish(ctx context.Context, steps []*queuedStep, why error) (committed []*queuedStep) {
	n := 0
	for _, s := range steps {
		n += len(s.op.Events)
	}
	there, err := u.lastRecords(ctx, n)
	if err != nil {
		u.records += n
	}
	for _, s := range steps {
		switch {
		case err == nil && len(s.op.Events) > 0 && there[string(s.op.Events[0].Object)]:
			s.op.Err = nil
			committed = append(committed, s)
		case err == nil:
			s.fail(admission.ErrStale, admission.ErrStale)
		default:
			if s.call != 0 && len(s.op.Events) > 0 {
				u.calls = append(u.calls, admittedCall{s.session, s.call, string(s.op.Events[0].Object)})
			}
			s.fail(why, why)
		}
	}
	return committed
}

// resolve determines which uncertain calls were committed and returns them. It must succeed before
// the next commit.
func (u *uncertainCalls) resolve(ctx context.Context) (committed []admittedCall, err error) {
	if u.records == 0 {
		return nil, nil
	}
	there, err := u.lastRecords(ctx, u.records)
	if err != nil {
		return nil, err
	}
	for _, c := range u.calls {
		if there[c.record] {
			committed = append(committed, c)
		}
	}
	u.calls, u.records = nil, 0
	return committed, nil
}

// lastRecords returns the contents of this process's last n records.
func (u *uncertainCalls) lastRecords(ctx context.Context, n int) (map[string]bool, error) {
	there := make(map[string]bool, n)
	if n == 0 {
		return there, nil
	}
	for r, err := range u.database.Records(ctx, backend.Query{Writer: u.database.Writer(), Limit: n, Last: true}) {
		if err != nil {
			return nil, err
		}
		there[string(r.Object)] = true
	}
	return there, nil
}
