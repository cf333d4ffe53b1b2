package pipeline

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
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

// refuseTaskMode answers a call that asks for a task from a server without tasks, and a call that
// has to be a task although its client does not support tasks. It reports whether it answered.
func (p *Pipeline) refuseTaskMode(c *Call) bool {
	u := c.Tool.Upstream
	switch {
	case c.Peer.Rev.TaskExtension && c.params.Task != nil:
		c.answerError(spec.CodeInvalidParams, `A call of this revision does not ask for a task: leave out "task".`)
	case c.asTaskAnyway() && !c.Peer.TakesTasks():
		text := fmt.Sprintf("Missing required client capability: %s can be called as a task only", c.Tool.Exposed)
		c.end(func() {
			c.Stream.Reply(wire.AppendError(nil, c.ID, spec.CodeMissingCapability, text, spec.MissingTasks()))
		})
	case c.asTask() && u.State().Phase == upstream.Up && (u.Rev().TaskExtension || !tasks.MakesTasks(u)):
		c.answerError(spec.CodeNoMethod, fmt.Sprintf("The upstream %s makes no tasks of calls; call %s without a task.", u.Config.Name, c.Tool.Exposed))
	default:
		return false
	}
	return true
}
