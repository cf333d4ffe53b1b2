package conn

import (
	"time"
)

// Grace is the time that a child has to end, step by step.
type Grace struct {
	Exit time.Duration // after the end of its input, before it is asked to end
	Term time.Duration // after that, before it is killed
	Kill time.Duration // after that, before it is reported as not killable
	Tell time.Duration // after the end of its output, for its exit status
}

// UsualGrace returns the times outside tests.
func UsualGrace() Grace {
	return Grace{Exit: 2 * time.Second, Term: 2 * time.Second, Kill: 5 * time.Second, Tell: 2 * time.Second}
}

// Burst tells of the times in which more messages are at hand.
type Burst struct {
	Told func(begins bool)
	On   bool
}

// Route passes a notification to the request that it belongs to, or on.
func (u *Host) Route(p *Pending, method string, params []byte) {
	switch method {
	case "notifications/progress":
		if x := p.Progressing(params); x == nil || !x.Notify(method, params) {
			u.heard(method, params) // it may be that of a task
		}
	default:
		u.heard(method, params)
	}
}
