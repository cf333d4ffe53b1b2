package pipeline

import "fmt"

// takePlace reserves a slot among the calls in flight to the server (limits.inFlight). It returns
// an empty string, or why the limit is reached.
func (c *Call) takePlace() (why string) {
	u, several := c.Tool.Upstream.Shared(), c.pipeline.Sessions.SeveralPrincipals.Load()
	limit := u.Config.Limits.InFlight
	if limit == 0 {
		return ""
	}
	switch own, ok := u.Calls.Take(c.Client.Principal, limit, several); {
	case ok:
	case own == limit || own == 0 || !several:
		return fmt.Sprintf("%d calls of the upstream %s are under way, and no more are allowed at a time (limits.inFlight). Call it again when one of them has ended", limit, u.Config.Name)
	default:
		return fmt.Sprintf("%d of the %d calls of the upstream %s that may be under way at a time (limits.inFlight) are yours, and what is left is for others. Call it again when one of yours has ended", own, limit, u.Config.Name)
	}
	c.reserved.Store(true)
	return ""
}

// takeTaskPlace reserves a slot among the tasks of the session, once, and reports whether the call
// has one.
func (c *Call) takeTaskPlace() bool {
	if !c.taskPlace.Load() && c.pipeline.Tasks.Reserve(c.Client.Session, c.pipeline.Sessions.SeveralPrincipals.Load(), c.pipeline.Life.Now()) {
		c.taskPlace.Store(true)
	}
	return c.taskPlace.Load()
}

// release returns the slots that the call has reserved. Further calls do nothing.
func (c *Call) release() {
	if c.reserved.Swap(false) {
		c.Tool.Upstream.Shared().Calls.Give(c.Client.Principal)
	}
	if c.taskPlace.Swap(false) {
		c.pipeline.Tasks.Release(c.Client.Session)
	}
}
