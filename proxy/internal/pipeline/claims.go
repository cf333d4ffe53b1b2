package pipeline

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// A claim is a bit set of the limited resources that a call has reserved.
type claim = uint32

const (
	slot     claim = 1 << iota // a slot for a call in flight to the server (limits.inFlight)
	taskSlot                   // a slot for a task of the session
	room                       // memory for the message of a call that waits or might be sent again
)

// reserve reserves the resources needed by the call: a slot for a call in flight to the server, a
// slot for a task if the call asks the server for one, and memory for the message if the call might
// be sent again. If any of them is exhausted, reserve returns a refusal. Otherwise, the caller must
// call release.
func (p *Pipeline) reserve(c *Call) answer {
	why := c.takeSlot()
	if why == "" && (c.wantsTask() || c.mustSendAsTask()) && !c.takeTaskSlot() {
		c.release(slot | taskSlot)
		why = fmt.Sprintf("%d tasks are running in this session, or you have reached your share of %d in all; wait until one has ended", tasks.MaxTasks, tasks.MaxTasksAll)
	}
	if why == "" && c.mayNeedResend() && !c.occupyBacklog() { // the message of a call that might be sent again is retained until the call ends
		c.release(slot | taskSlot)
		why = strings.TrimSuffix(backlogFull, ".")
	}
	if why == "" {
		return nil
	}
	r := PlainRefusal("busy", fmt.Sprintf("%s was not called and nothing was spent: %s.", c.Tool.Exposed, why))
	p.RecordRefusal(c, r)
	return r
}

// takeSlot reserves a slot for a call in flight to the server (limits.inFlight). If the limit has
// been reached, it returns an explanation; otherwise, it returns "".
func (c *Call) takeSlot() (why string) {
	u, several := c.Tool.Upstream.SharedConnection(), c.pipeline.Sessions.SeveralPrincipals.Load()
	limit := u.Config.Limits.InFlight
	if limit == 0 {
		return ""
	}
	switch own, ok := u.Calls.Take(c.Client.Principal, limit, several); {
	case ok:
	case own == limit || own == 0 || !several:
		return fmt.Sprintf("%d calls of the upstream %s are in flight, the maximum (limits.inFlight). Call it again when one of them has ended", limit, u.Config.Name)
	default:
		return fmt.Sprintf("%d of the upstream %[3]s's %[2]d calls in flight (limits.inFlight) are yours, and the rest are reserved for others. Call it again when one of yours has ended", own, limit, u.Config.Name)
	}
	c.claims.Or(slot)
	return ""
}

// takeTaskSlot reserves a slot for a task of the session, unless the call already holds one. It
// reports whether the call now holds a slot.
func (c *Call) takeTaskSlot() bool {
	if c.claims.Load()&taskSlot == 0 && c.pipeline.Tasks.Reserve(c.Client.Session, c.pipeline.Sessions.SeveralPrincipals.Load(), c.pipeline.Life.Now()) {
		c.claims.Or(taskSlot)
	}
	return c.claims.Load()&taskSlot != 0
}

// release gives back the given resources if the call holds them.
func (c *Call) release(of claim) {
	if c.claims.Load()&of == 0 {
		return
	}
	held := c.claims.And(^of) & of
	if held&slot != 0 {
		c.Tool.Upstream.SharedConnection().Calls.Give(c.Client.Principal, 1)
	}
	if held&taskSlot != 0 {
		c.pipeline.Tasks.Release(c.Client.Session)
	}
	if held&room != 0 {
		c.pipeline.backlog.Give(c.Client.Principal, c.size)
	}
}

// Limits on the bytes of calls that are waiting for a server to start or might be sent again, per
// principal and in total. The approval broker has its own limits for calls that are waiting for
// people.
const (
	maxBacklog    = 16      // limit per principal, as a multiple of the maximum message size
	maxBacklogAll = 64      // limit for all principals together, as a multiple of the maximum message size
	waitingCost   = 4 << 10 // bytes counted per waiting call in addition to its message
)

// occupyBacklog counts the size of a call toward the limits on waiting calls, unless it is already
// counted. If that would exceed a limit, occupyBacklog counts nothing and returns false.
func (c *Call) occupyBacklog() bool {
	if c.claims.Load()&room != 0 {
		return true
	}
	largest := c.pipeline.MaxRequest
	_, ok := c.pipeline.backlog.Add(c.Client.Principal, c.size, func(own, all int) bool {
		return own+c.size <= maxBacklog*largest && all+c.size <= maxBacklogAll*largest
	})
	if ok {
		c.claims.Or(room)
	}
	return ok
}

const backlogFull = "Your waiting calls are too large in total. Call it again when one of them has ended."
