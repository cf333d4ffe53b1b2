package approval

import (
	"bytes"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/jsondiff"
)

// maxRemembered is the maximum number of approved calls kept for comparison with later ones.
const maxRemembered = 1000

// An approvedCall is the last approved call of a principal to a tool.
type approvedCall struct {
	of                     principalTool
	id, definition, sha256 string
	arguments              []byte // arguments as forwarded; nil if unknown or too long
	at                     time.Time
}

// A principalTool identifies a tool and the principal that calls it.
type principalTool struct{ principal, tool string }

// lastApproved holds the last approved call of each principal to each tool, oldest first. The zero
// value is empty. It is guarded by Broker.mu.
type lastApproved struct{ calls []*approvedCall }

// add records the call of q, which has just been approved.
func (l *lastApproved) add(q *Request) {
	of := principalTool{q.question.Call.Principal, q.Key.Tool}
	l.calls = slices.DeleteFunc(l.calls, func(c *approvedCall) bool { return c.of == of })
	if len(l.calls) == maxRemembered {
		l.calls = slices.Delete(l.calls, 0, 1)
	}
	l.calls = append(l.calls, &approvedCall{of: of, id: q.ID, definition: q.Key.Definition, sha256: q.question.Call.SHA256, at: q.progress.Answer.At, arguments: bytes.Clone(q.question.Call.exact)})
}

// comparison compares a call with the last approved call of the same principal to the same tool. It
// returns nil if no such call is known.
func (l *lastApproved) comparison(key Key, call Call, mask Mask) *Comparison {
	of := principalTool{call.Principal, key.Tool}
	at := slices.IndexFunc(l.calls, func(c *approvedCall) bool { return c.of == of })
	if at < 0 {
		return nil
	}
	before := l.calls[at]
	c := &Comparison{Approval: before.id, At: before.at, Redefined: before.definition != key.Definition}
	switch {
	case before.sha256 == call.SHA256:
	case before.arguments == nil || call.exact == nil:
		c.TooLong = true
	default:
		c.Changes, c.More = jsondiff.Compare(before.arguments, call.exact, maxChanges, mask.hide)
	}
	return c
}
