package pipeline

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// reserve takes what a call needs to run: one of the places that the upstream
// has for calls under way, and where it is to be a task, one of those that its
// session has for tasks. That is before the gate is asked: so nothing is spent
// on a call that finds none. It says what the client is told instead; nil: there
// was one.
func (p *Pipeline) reserve(t *Call) answer {
	why := t.takePlace()
	if why == "" && (t.asTask() || t.asTaskAnyway()) && !t.takeTaskPlace() {
		t.release()
		why = fmt.Sprintf("%d tasks are under way in this session, or your share of %d in all, and no more are allowed; wait until one is over", tasks.MaxTasks, tasks.MaxTasksAll)
	}
	if why == "" && t.repeats() && !t.hold() { // its arguments are kept to its end
		t.release()
		why = strings.TrimSuffix(tooMuchWaits, ".")
	}
	if why == "" {
		return nil
	}
	r := PlainRefusal("busy", fmt.Sprintf("%s was not called and nothing was spent: %s.", t.Tool.Exposed, why))
	p.RecordRefusal(t, r)
	return r
}

func (t *Call) takePlace() (why string) {
	u := t.Tool.Upstream.Shared()
	limit := u.Config.Limits.InFlight
	if limit == 0 {
		return ""
	}
	switch own, ok := u.Calls.Take(t.Client.Principal, limit, t.proxy.Sessions.SeveralPrincipals.Load()); {
	case ok:
	case own == limit || own == 0 || !t.proxy.Sessions.SeveralPrincipals.Load():
		return fmt.Sprintf("%d calls of the upstream %s are under way, and no more are allowed at a time (limits.inFlight). Call it again when one of them has ended", limit, u.Config.Name)
	default:
		return fmt.Sprintf("%d of the %d calls of the upstream %s that may be under way at a time (limits.inFlight) are yours, and what is left is for others. Call it again when one of yours has ended", own, limit, u.Config.Name)
	}
	t.reserved.Store(true)
	return ""
}

func (t *Call) takeTaskPlace() bool {
	if !t.taskPlace.Load() && t.proxy.Tasks.Reserve(t.Client.Session, t.proxy.Sessions.SeveralPrincipals.Load(), t.proxy.Life.Now()) {
		t.taskPlace.Store(true)
	}
	return t.taskPlace.Load()
}

// release gives the places back, once.
func (t *Call) release() {
	if t.reserved.Swap(false) {
		t.Tool.Upstream.Shared().Calls.Give(t.Client.Principal)
	}
	if t.taskPlace.Swap(false) {
		t.proxy.Tasks.Release(t.Client.Session)
	}
}
