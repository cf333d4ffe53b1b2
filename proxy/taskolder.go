package proxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A client of revision 2026-07-28 in front of an upstream of 2025-11-25: a tool
// that can be called as a task only is called as one, if the client takes tasks.
// The proxy waits for the result in the client's place, since that is where the
// upstream asks what it wants to know.

// asTaskAnyway reports whether a call is to be a task for the sake of its
// upstream, though its client cannot ask for one.
func (t *toolCall) asTaskAnyway() bool {
	u := t.tool.upstream
	return t.method == callTool && t.agent.modern && t.tool.onlyTask && u.State().Era == upstream.Legacy && u.makesTasks()
}

// taskFor is what the upstream of the older era is told of the task that the
// call is to be; nil: it is to be none.
func (t *toolCall) taskFor() []byte {
	if t.asTaskAnyway() {
		return []byte(`{}`)
	}
	return t.params.Task
}

// mustTakeTask refuses a call that can be made as a task only, for its client
// takes none.
func (t *toolCall) mustTakeTask() {
	text := fmt.Sprintf("Missing required client capability: %s can be called as a task only", t.tool.exposed)
	t.end(func() { t.stream.Reply(wire.AppendError(nil, t.id, codeMissingCapability, text, missingTasks())) })
}

// missingTasks is the data of an error that says what a client has to declare.
func missingTasks() []byte {
	return append(append([]byte(`{"requiredCapabilities":`), takesTasks()...), '}')
}

// translated reports whether the task is shown to its client in the words of
// another era.
func (x *task) translated() bool { return x.origin.agent.modern && !x.modern }

// modernHandle is what the client of the newer era gets of a task of the older.
func modernHandle(result, task []byte) []byte {
	members := []byte(`"resultType":"task"`)
	if meta, ok := rawjson.Member(result, "_meta"); ok {
		members = append(append(members, `,"_meta":`...), meta...)
	}
	return wire.ModernTask(task, members)
}

// drain waits for the result in the client's place.
func (p *Proxy) drain(x *task) {
	sent := x.upstream.Send(upstream.Request{
		Method: "tasks/result", Params: append(rawjson.AppendString([]byte(`{"taskId":`), x.theirs), '}'),
		Ask: func(q *upstream.Inquiry) {
			if !p.taskInquiry(x.upstream, q) && mayAsk(x.origin.agent, q) {
				x.showInput(q)
			}
		},
		Notify: func(method string, params []byte) { p.taskNews(x.upstream, method, params) },
	})
	select {
	case reply := <-sent.Done():
		if reply.Result != nil {
			p.fetched(x, reply.Result)
		}
	case <-x.over:
		sent.Cancel("the task is over")
	case <-p.ctx.Done():
	}
}

// showInput keeps a question for the client to see in the task.
func (x *task) showInput(q *upstream.Inquiry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.inputs) >= maxInputs || x.settled {
		q.Refuse(codeInternal, "too many requests wait for the client")
		return
	}
	if x.inputs == nil {
		x.inputs = map[string]*upstream.Inquiry{}
	}
	x.asks++
	x.inputs["request-"+strconv.Itoa(x.asks)] = q
}

// inputRequests is the questions that wait, as a member; nil: there are none.
func (p *Proxy) inputRequests(x *task) []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	b := []byte(`"inputRequests":{`)
	some := false
	for n := 1; n <= x.asks; n++ {
		key := "request-" + strconv.Itoa(n)
		q := x.inputs[key]
		if q == nil || q.Context().Err() != nil {
			delete(x.inputs, key)
			continue
		}
		if some {
			b = append(b, ',')
		}
		params, _ := p.forClient(x.upstream, x.upstream.withServerName(q.Params))
		b, some = appendInput(b, key, q.Method, params), true
	}
	if !some {
		return nil
	}
	return append(b, '}')
}

// update hands the answers of the client to the upstream. What was not asked,
// or is answered already, is ignored.
func (x *task) update(responses []byte) {
	rawjson.Members(responses, func(key, response []byte, _ int) bool {
		x.mu.Lock()
		q := x.inputs[string(key)]
		delete(x.inputs, string(key))
		x.mu.Unlock()
		if q != nil {
			q.Result(wire.RelateTask(response, x.theirs))
		}
		return true
	})
}

// serveOlder serves a request of the newer era for a task of the older.
func (p *Proxy) serveOlder(ctx context.Context, x *task, m wire.Message, s stream) {
	var result []byte
	var err error
	switch m.Method {
	case "tasks/update":
		responses, _ := rawjson.Member(m.Params, "inputResponses")
		x.update(responses)
		result = []byte(`{"resultType":"complete"}`)
	case "tasks/cancel":
		result, err = p.cancelOlder(ctx, x)
	default:
		result, err = p.detailOlder(ctx, x)
	}
	var refused refusedError
	switch {
	case errors.As(err, &refused):
		s.Reply(wire.ErrorHead(m.ID), refused, wire.Tail)
	case errors.Is(err, errTaskGone):
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, noTask, nil))
	case err != nil:
		s.Reply(wire.AppendError(nil, m.ID, codeInternal, fmt.Sprintf("upstream %s: %v", x.upstream.config.Name, err), nil))
	default:
		s.Reply(wire.ResultHead(m.ID), result, wire.Tail)
	}
}

// refusedError is the error that an upstream answered with, raw JSON.
type refusedError []byte

func (e refusedError) Error() string { return text.Escape(member(e, "message")) }

func (p *Proxy) cancelOlder(ctx context.Context, x *task) ([]byte, error) {
	reply, err := p.askUpstream(ctx, x, "tasks/cancel")
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		return nil, refusedError(reply.Error)
	}
	if about, err := p.read(x, reply.Result); err == nil {
		p.reached(ctx, x, about)
	}
	return []byte(`{"resultType":"complete"}`), nil
}

// detailOlder is the task with what the newer era shows in it: its result or
// error, or what its upstream asks.
func (p *Proxy) detailOlder(ctx context.Context, x *task) ([]byte, error) {
	about, err := p.poll(x)
	if err != nil {
		if errors.Is(err, errTaskGone) {
			p.endTask(x, gate.Unknown, "task lost")
		}
		return nil, err
	}
	x.mu.Lock()
	object := x.object
	x.mu.Unlock()
	members := []byte(`"resultType":"complete"`)
	switch about.Status {
	case wire.TaskCompleted, wire.TaskFailed:
		end, err := p.endOlder(ctx, x)
		if err != nil {
			return nil, err
		}
		members = append(append(members, ','), end...)
	case wire.TaskInputRequired:
		asked := p.inputRequests(x)
		if asked == nil { // it has not asked yet, or has its answer already
			members = append(members, `,"status":"working"`...)
			break
		}
		members = append(append(members, ','), asked...)
	case wire.TaskCancelled:
		p.reached(ctx, x, about)
	}
	return wire.ModernTask(object, members), nil
}

// endOlder is how a task of the older era ended, as members of one of the
// newer: there, a result that is an error completes the task too.
func (p *Proxy) endOlder(ctx context.Context, x *task) ([]byte, error) {
	reply, err := p.askUpstream(ctx, x, "tasks/result")
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		p.endTask(x, gate.Failure, "task failed")
		return append([]byte(`"status":"failed","error":`), reply.Error...), nil
	}
	p.endTask(x, resultOutcome(x, reply.Result), "task completed")
	return append([]byte(`"status":"completed","result":`), wire.RelateTask(reply.Result, x.id)...), nil
}
