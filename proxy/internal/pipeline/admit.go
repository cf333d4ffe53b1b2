package pipeline

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// admissible answers a call that could not run or could not be recorded even if the gate admitted
// it, so that the gate spends nothing on it. It reports whether the gate should decide on the call.
func (p *Pipeline) admissible(c *Call) bool {
	if p.refuseTaskMode(c) {
		return false
	}
	a := p.unreachable(c)
	if a == nil {
		if a = p.unrecordable(c); a != nil { // without a store, the session cannot be looked up either
			c.answer(a)
			return false
		}
		a = p.reserve(c)
	}
	if a != nil && (!c.isOver(false) || !c.refuseSession()) {
		c.answer(a)
	}
	return a == nil
}

// unreachable returns the refusal of a call whose server is down, or nil if the server is up.
func (p *Pipeline) unreachable(c *Call) answer {
	state := c.Tool.Upstream.State()
	if state.Phase == upstream.Up {
		return nil
	}
	name := c.Tool.Upstream.Config.Name
	if r, ok := c.unauthorized(state.Err).(refusal); ok {
		p.RecordRefusal(c, r)
		return r
	}
	r := PlainRefusal("unavailable", fmt.Sprintf("The upstream %s is not running, so %s was not called and nothing was spent. %s",
		name, c.Tool.Exposed, "Other tools may work; try again later."))
	p.RecordRefusal(c, r)
	return r
}

// unrecordable returns the refusal of a call whose decision cannot be recorded now, or nil if it
// can.
func (p *Pipeline) unrecordable(c *Call) answer {
	if r := p.Admission.Ready(c.Tool.Canonical); r != nil {
		return refusal{r}
	}
	if c.Peer.Rev.InputRequired { // its next round needs a sealed requestState
		if err := p.Sealer.Ready(p.Life.Ctx); err != nil {
			return refusal{p.Admission.RefuseError(p.Life.Ctx, c.admission(), err)}
		}
	}
	return nil
}

// reserve reserves the resources that the call needs: a slot among the calls in flight to its
// server, a slot among the tasks of its session if it becomes a task, and room in the backlog if it
// might be sent again. It returns the refusal of a call that gets no room. If it returns nil, the
// caller must call release.
func (p *Pipeline) reserve(c *Call) answer {
	why := c.takePlace()
	if why == "" && (c.asTask() || c.asTaskAnyway()) && !c.takeTaskPlace() {
		c.release()
		why = fmt.Sprintf("%d tasks are under way in this session, or your share of %d in all, and no more are allowed; wait until one is over", tasks.MaxTasks, tasks.MaxTasksAll)
	}
	if why == "" && c.mayNeedResend() && !c.countWaiting() { // its arguments are kept until it ends
		c.release()
		why = strings.TrimSuffix(backlogFull, ".")
	}
	if why == "" {
		return nil
	}
	r := PlainRefusal("busy", fmt.Sprintf("%s was not called and nothing was spent: %s.", c.Tool.Exposed, why))
	p.RecordRefusal(c, r)
	return r
}

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
