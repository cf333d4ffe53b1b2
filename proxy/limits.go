package proxy

import (
	"fmt"
	"strings"
)

// root is the trunk of u, or u itself.
func (u *upstreamState) root() *upstreamState {
	if u.trunk != nil {
		return u.trunk
	}
	return u
}

// reserve takes what a call needs to run: one of the places that the upstream
// has for calls under way, and where it is to be a task, one of those that its
// session has for tasks. That is before the gate is asked: so nothing is spent
// on a call that finds none. It says what the client is told instead; nil: there
// was one.
func (p *Proxy) reserve(t *toolCall) answer {
	why := t.takePlace()
	if why == "" && (t.asTask() || t.asTaskAnyway()) && !t.takeTaskPlace() {
		t.release()
		why = fmt.Sprintf("%d tasks are under way in this session, or your share of %d in all, and no more are allowed; wait until one is over", maxTasks, maxTasksAll)
	}
	if why == "" && t.repeats() && !t.hold() { // its arguments are kept to its end
		t.release()
		why = strings.TrimSuffix(tooMuchWaits, ".")
	}
	if why == "" {
		return nil
	}
	r := plainRefusal("busy", fmt.Sprintf("%s was not called and nothing was spent: %s.", t.tool.exposed, why))
	p.recordRefusal(t, r)
	return r
}

func (t *toolCall) takePlace() (why string) {
	u := t.tool.upstream.root()
	limit := u.config.Limits.InFlight
	if limit == 0 {
		return ""
	}
	switch own, ok := u.underway.take(t.client.principal, limit, t.proxy.several.Load()); {
	case ok:
	case own == limit || own == 0 || !t.proxy.several.Load():
		return fmt.Sprintf("%d calls of the upstream %s are under way, and no more are allowed at a time (limits.inFlight). Call it again when one of them has ended", limit, u.config.Name)
	default:
		return fmt.Sprintf("%d of the %d calls of the upstream %s that may be under way at a time (limits.inFlight) are yours, and what is left is for others. Call it again when one of yours has ended", own, limit, u.config.Name)
	}
	t.reserved.Store(true)
	return ""
}

func (t *toolCall) takeTaskPlace() bool {
	if !t.taskPlace.Load() && t.proxy.tasks.reserve(t.client.session, t.proxy.several.Load(), t.proxy.now()) {
		t.taskPlace.Store(true)
	}
	return t.taskPlace.Load()
}

// release gives the places back, once.
func (t *toolCall) release() {
	if t.reserved.Swap(false) {
		t.tool.upstream.root().underway.give(t.client.principal)
	}
	if t.taskPlace.Swap(false) {
		t.proxy.tasks.release(t.client.session)
	}
}
