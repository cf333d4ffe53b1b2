package pipeline

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// admissible answers a call that could not run, or not go on record, even if the gate
// admitted it: so nothing is spent on it. It reports whether the gate is to be asked.
func (p *Pipeline) admissible(c *Call) bool {
	if p.refuseTaskMode(c) {
		return false
	}
	a := p.unreachable(c)
	if a == nil {
		if a = p.unrecordable(c); a != nil { // nothing can be looked up
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

// unreachable returns the answer to a call whose server is down; nil: it is up.
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

// unrecordable returns the answer to a call whose decision could not be recorded; nil: it
// can.
func (p *Pipeline) unrecordable(c *Call) answer {
	if r := p.Admission.Ready(c.Tool.Canonical); r != nil {
		return refusal{r}
	}
	if c.Peer.Rev.InputRequired { // another round of it is sealed
		if err := p.Sealer.Ready(p.Life.Ctx); err != nil {
			return refusal{p.Admission.Unmade(p.Life.Ctx, c.admission(), err)}
		}
	}
	return nil
}

// reserve takes the places that the call needs to run: one among the calls under way at
// its server, and for a task one among the tasks of its session. It returns the answer to a
// call that finds none; nil: the call has them, and has to release them.
func (p *Pipeline) reserve(c *Call) answer {
	why := c.takePlace()
	if why == "" && (c.asTask() || c.asTaskAnyway()) && !c.takeTaskPlace() {
		c.release()
		why = fmt.Sprintf("%d tasks are under way in this session, or your share of %d in all, and no more are allowed; wait until one is over", tasks.MaxTasks, tasks.MaxTasksAll)
	}
	if why == "" && c.mayRepeat() && !c.hold() { // its arguments are kept to its end
		c.release()
		why = strings.TrimSuffix(tooMuchWaits, ".")
	}
	if why == "" {
		return nil
	}
	r := PlainRefusal("busy", fmt.Sprintf("%s was not called and nothing was spent: %s.", c.Tool.Exposed, why))
	p.RecordRefusal(c, r)
	return r
}

// takePlace takes a place among the calls under way at the server (limits.inFlight). It
// returns why there is none.
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

// takeTaskPlace takes a place among the tasks of the session, once.
func (c *Call) takeTaskPlace() bool {
	if !c.taskPlace.Load() && c.pipeline.Tasks.Reserve(c.Client.Session, c.pipeline.Sessions.SeveralPrincipals.Load(), c.pipeline.Life.Now()) {
		c.taskPlace.Store(true)
	}
	return c.taskPlace.Load()
}

// release gives the places back, once.
func (c *Call) release() {
	if c.reserved.Swap(false) {
		c.Tool.Upstream.Shared().Calls.Give(c.Client.Principal)
	}
	if c.taskPlace.Swap(false) {
		c.pipeline.Tasks.Release(c.Client.Session)
	}
}
