package proxy

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// mayAsk reports whether q can be put to the client a, and else refuses it. What
// q says of a task is left out where the client makes none and its server was
// not told that any client does: so it would be ignored without us too. A server
// that was told so, for the sake of another client, waits for a task and has to
// hear that there will be none.
func (u *upstreamState) mayAsk(a agent, q *upstream.Inquiry) bool {
	_, asTask := rawjson.Member(q.Params, "task")
	switch {
	case !a.can(q):
		refuseInquiry(q)
		return false
	case !asTask || a.makesTasks(q.Method):
		return true
	case taskMaking(u.Declared(), q.Method):
		q.Refuse(codeNoMethod, "the client makes no tasks of "+q.Method)
		return false
	}
	q.Params = wire.AppendWithout(nil, q.Params, "task")
	return true
}

// A wish is what an upstream asks of a client, as its answer is awaited.
type wish struct {
	proxy    *Proxy
	pair     pair
	inquiry  *upstream.Inquiry
	task     string // as the upstream calls that to which the question belongs; empty: to none
	errand   bool   // the client may make a task of it, and there is room
	token    string // by which the client may tell of its progress
	progress func(params []byte)
}

// answered hands the client's answer to the upstream.
func (w *wish) answered(result, failure []byte) {
	object, handle := within(result, "task")
	handle = handle && rawjson.Kind(object) == '{'
	switch {
	case result == nil:
		w.dropped()
		w.inquiry.Fail(failure)
	case handle && w.errand:
		w.begun(result, object)
	case handle && member(object, "taskId") != "":
		w.refuse("which it was not asked for")
	default:
		w.dropped()
		if w.task != "" {
			result = wire.RelateTask(result, w.task)
		}
		w.inquiry.Result(result)
	}
}

// dropped is for a wish of which nothing more is to be expected.
func (w *wish) dropped() {
	if w.errand {
		w.proxy.errands.giveBack(w.pair)
	}
}

func (w *wish) refuse(why any) {
	u := w.pair.upstream.config.Name
	w.proxy.log.Warn("a client made a task of a question that cannot be followed", "upstream", u, "method", w.inquiry.Method, "session", w.pair.client.session.id, "reason", why)
	w.inquiry.Refuse(codeInternal, fmt.Sprintf("the client made a task of it, %v", why))
}

// begun keeps the task that the client has made, before the upstream hears of it.
func (w *wish) begun(result, object []byte) {
	p, c := w.proxy, w.pair.client
	about, err := wire.ParseTask(object)
	if err == nil && wire.ResultFacts(result).Broken {
		err = errUnclear
	}
	if err != nil {
		w.dropped()
		w.refuse(fmt.Errorf("which cannot be followed: %w", err))
		return
	}
	now := p.options.Now()
	e := &errand{
		id: randomID(""), theirs: about.ID, upstream: w.pair.upstream, client: c,
		token: w.token, progress: w.progress, made: now, asked: now,
	}
	ours := e.shows(object, about)
	if err := p.errands.add(e); err != nil {
		w.refuse(fmt.Errorf("which cannot be followed: %w", err))
		return
	}
	if !p.has(c) || w.inquiry.Context().Err() != nil { // it came to its end meanwhile
		p.errands.forget(e)
		p.giveUp(e)
	}
	p.log.Debug("a client made a task of a question", "upstream", e.upstream.config.Name, "method", w.inquiry.Method, "session", c.session.id)
	related := w.task
	if wire.RelatedTask(result) == e.theirs {
		related = e.id
	}
	result = wire.ReplaceMember(nil, result, "task", ours)
	if related != "" {
		result = wire.RelateTask(result, related)
	}
	w.inquiry.Result(result)
}
