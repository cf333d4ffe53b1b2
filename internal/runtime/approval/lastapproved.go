package approval

import (
	"bytes"
	"container/list"
	"time"

	"github.com/petrigate/petrigate/internal/jsondiff"
)

// maxRemembered limits the calls kept for comparison. The oldest approvals are dropped first.
const maxRemembered = 1000

// An approvedCall is a principal's last approved call of a tool.
type approvedCall struct {
	of                     principalTool
	id, definition, sha256 string
	arguments              []byte // arguments as forwarded; nil: unknown or too long
	at                     time.Time
}

// A principalTool identifies a tool together with the principal who uses it.
type principalTool struct{ principal, tool string }

// A lastApproved holds the last approved call for each tool and principal. Its zero value is empty.
// Callers must hold Broker.mu.
type lastApproved struct {
	byTool map[principalTool]*list.Element
	order  list.List // the calls, oldest first
}

// add records q, which a person has just approved.
func (l *lastApproved) add(q *Request) {
	if l.byTool == nil {
		l.byTool = map[principalTool]*list.Element{}
	}
	of := principalTool{q.question.Call.Principal, q.Key.Tool}
	if at := l.byTool[of]; at != nil {
		l.order.Remove(at)
	}
	c := &approvedCall{of: of, id: q.ID, definition: q.Key.Definition, sha256: q.question.Call.SHA256, at: q.progress.Answer.At, arguments: bytes.Clone(q.question.Call.exact)}
	if l.byTool[of] = l.order.PushBack(c); l.order.Len() > maxRemembered {
		oldest := l.order.Remove(l.order.Front()).(*approvedCall)
		delete(l.byTool, oldest.of)
	}
}

// comparison compares a call with the last approved call of its tool. It returns nil if no such
// call is known.
func (l *lastApproved) comparison(key Key, call Call, mask Mask) *Comparison {
	at := l.byTool[principalTool{call.Principal, key.Tool}]
	if at == nil {
		return nil
	}
	before := at.Value.(*approvedCall)
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
