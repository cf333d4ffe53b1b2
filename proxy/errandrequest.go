package proxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// errUnclear says that a result could be read in two ways.
var errUnclear = errors.New("its result could be read in two ways")

// errandInquiry takes a request of u for an errand, on whatever stream it came,
// and reports whether it is one. It must not wait.
func (p *Proxy) errandInquiry(u *upstreamState, q *upstream.Inquiry) bool {
	switch q.Method {
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/list":
	default:
		return false
	}
	declared := u.Declared()
	switch {
	case !declares(declared, "tasks"), q.Method == "tasks/list" && !declares(declared, "tasks", "list"):
		q.Refuse(codeNoMethod, "Method not found: no client has "+q.Method)
		return true
	case q.Method == "tasks/list":
		p.background(func() { p.listErrands(u, q) })
		return true
	}
	e := p.errands.find(u, member(q.Params, "taskId"))
	switch {
	case e == nil:
		q.Refuse(codeInvalidParams, noTask)
	case q.Method == "tasks/cancel" && !e.client.speaker(wire.Meta{}).errandsCan("cancel"):
		q.Refuse(codeNoMethod, "Method not found: the client has no tasks/cancel")
	default:
		p.passErrand(e, q)
	}
	return true
}

// passErrand passes a request for an errand to its client, under the client's
// own id. All but the result has to be known soon.
func (p *Proxy) passErrand(e *errand, q *upstream.Inquiry) {
	id := string(rawjson.AppendString(nil, randomID("pg-")))
	params, token := retoken(wire.RenameTask(q.Params, e.theirs), []byte(id))
	if wire.RelatedTask(params) == e.id {
		params = wire.RelateTask(params, e.theirs)
	}
	stop := func() {}
	if q.Method != "tasks/result" {
		timeout := e.upstream.config.Timeout
		timer := time.AfterFunc(timeout, func() {
			q.Refuse(codeInternal, fmt.Sprintf("the client gave no answer within %s", timeout))
		})
		stop = func() { timer.Stop() }
	}
	e.follows(1, p.options.Now())
	done := func() {
		stop()
		e.follows(-1, p.options.Now())
	}
	answer := func(result, failure []byte) {
		done()
		p.errandSays(e, q, result, failure)
	}
	p.put(e.client, p.reach(e.client, e.upstream), q, id, params, &question{answer: answer, progress: p.progressTo(e.upstream, e.client, token)}, done)
}

// errandSays takes the answer of the client to a request for an errand.
func (p *Proxy) errandSays(e *errand, q *upstream.Inquiry, result, failure []byte) {
	switch {
	case result == nil:
		if q.Method == "tasks/get" && forgotten(failure) {
			p.errands.forget(e)
		}
		q.Fail(failure)
		return
	case q.Method == "tasks/result": // a member taskId is the answer's own there
		e.finishes()
	default:
		about, err := e.read(result)
		if err != nil {
			p.log.Warn("a task of a client cannot be read", "upstream", e.upstream.config.Name, "session", e.client.session.id, "error", err)
			q.Refuse(codeInternal, "the client's answer cannot be read: "+err.Error())
			return
		}
		result = e.shows(result, about)
	}
	if wire.RelatedTask(result) == e.theirs {
		result = wire.RelateTask(result, e.id)
	}
	q.Result(result)
}

// read takes what the client shows of the errand, which has to be that one:
// another may be that of another upstream.
func (e *errand) read(object []byte) (wire.Task, error) {
	about, err := wire.ParseTask(object)
	if err == nil && about.ID != e.theirs {
		err = errors.New("it is another task")
	}
	return about, err
}

// finishes notes that there is a result.
func (e *errand) finishes() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.about.Status.Over() {
		e.about.Status = wire.TaskCompleted
	}
}

// listErrands serves tasks/list of an upstream: what clients run for it, of those
// clients that list their tasks. Their own lists may hold errands for others, and
// are never asked for.
func (p *Proxy) listErrands(u *upstreamState, q *upstream.Inquiry) {
	u.errandList.Lock() // one at a time: it asks for each
	defer u.errandList.Unlock()
	if q.Context().Err() != nil {
		return
	}
	var all []*errand
	for _, e := range p.errands.at(u) {
		if e.client.speaker(wire.Meta{}).errandsCan("list") {
			all = append(all, e)
		}
	}
	from, ok := cursorOf(q.Params, len(all), func(i int) uint64 { return all[i].number })
	if !ok {
		q.Refuse(codeInvalidParams, "Unknown cursor")
		return
	}
	page := all[from:min(from+tasksOnPage, len(all))]
	objects := make([][]byte, len(page))
	ctx, cancel := context.WithTimeout(q.Context(), u.config.Timeout)
	defer cancel()
	var work sync.WaitGroup
	for i, e := range page {
		work.Go(func() { objects[i] = p.lookAt(ctx, e) })
	}
	work.Wait()
	next := ""
	if from+len(page) < len(all) {
		next = strconv.FormatUint(page[len(page)-1].number, 10)
	}
	q.Result(taskPage(objects, next))
}

// lookAt is the errand as its client shows it now, or showed it last where it
// does not answer; nil: it is gone.
func (p *Proxy) lookAt(ctx context.Context, e *errand) []byte {
	id := rawjson.AppendString(nil, randomID("pg-"))
	type answer struct{ result, failure []byte }
	answered := make(chan answer, 1)
	if !e.client.expect(wire.IDKey(id), &question{answer: func(result, failure []byte) { answered <- answer{result, failure} }}) {
		return e.known()
	}
	params := append(rawjson.AppendString([]byte(`{"taskId":`), e.theirs), '}')
	p.reach(e.client, e.upstream).Send(wire.AppendRequest(nil, id, "tasks/get", params))
	select {
	case a := <-answered:
		if about, err := e.read(a.result); err == nil {
			return e.shows(a.result, about)
		}
		if forgotten(a.failure) {
			p.errands.forget(e)
			return nil
		}
	case <-ctx.Done():
		e.client.forget(wire.IDKey(id))
	}
	return e.known()
}

func (e *errand) known() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.object
}

// forgotten reports whether a client refuses to show a task because there is none.
func forgotten(failure []byte) bool {
	code, _ := rawjson.Member(failure, "code")
	return string(code) == strconv.Itoa(codeInvalidParams)
}

// reach is where a client of the older era hears what an upstream wants of it:
// where it hears what belongs to no request, or if it does not listen there, on
// the stream of one of its own requests to that upstream.
func (p *Proxy) reach(c *client, u *upstreamState) stream {
	push, ok := c.out.(*events.Push)
	if !ok || push.Listening() {
		return c.out
	}
	for _, f := range u.flights.all() {
		if t := f.receiver(); t != nil && t.client == c && !t.agent.modern {
			return t.aloud()
		}
	}
	for _, x := range p.tasks.of(c.session) {
		if s := x.stream(); x.upstream == u && s != c.out {
			return s
		}
	}
	return c.out
}
