package proxy

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// errandNews takes the word of a client on how one of its tasks stands. It goes
// to the upstream that runs it and to nobody else.
func (p *Proxy) errandNews(c *client, params []byte) {
	e := p.errands.ran(c, member(params, "taskId"))
	if e == nil {
		return
	}
	about, err := e.read(params)
	if err != nil {
		p.log.Warn("a task of a client cannot be read", "upstream", e.upstream.config.Name, "session", c.session.id, "error", err)
		return
	}
	ours := e.shows(params, about)
	if wire.RelatedTask(ours) == e.theirs {
		ours = wire.RelateTask(ours, e.id)
	}
	e.upstream.Notify(taskStatus, ours)
}

// progressed takes a notification of progress with an answer to us, or with an
// errand.
func (p *Proxy) progressed(c *client, params []byte) {
	token, _ := rawjson.Member(params, "progressToken")
	key := wire.IDKey(token)
	c.mu.Lock()
	q := c.questions[key]
	c.mu.Unlock()
	if q != nil && q.progress != nil {
		q.progress(params)
	} else if e := p.errands.progressing(c, key); e != nil && !e.over() {
		e.progress(params)
	}
}

// progressTo tells u of the progress of a client, by the token of u; nil: u has
// given none.
func (p *Proxy) progressTo(u *upstreamState, c *client, token []byte) func(params []byte) {
	if token == nil {
		return nil
	}
	return func(params []byte) {
		u.Notify("notifications/progress", p.related(u, c, wire.ReplaceMember(nil, params, "progressToken", token)))
	}
}

// related is what a client sends to u, with the id that u knows of the task that
// it is related to.
func (p *Proxy) related(u *upstreamState, c *client, params []byte) []byte {
	if !p.errands.some.Load() {
		return params
	}
	if e := p.errands.ran(c, wire.RelatedTask(params)); e != nil && e.upstream == u {
		return wire.RelateTask(params, e.id)
	}
	return params
}

// endErrands ends what clients run for an upstream that has begun anew or is
// down: nobody will come back for it. A person should not go on to be asked.
func (p *Proxy) endErrands(u *upstreamState) {
	for _, e := range p.errands.end(func(of pair) bool { return of.upstream == u }) {
		p.giveUp(e)
	}
}

// giveUp tells a client that nobody waits for its task any more.
func (p *Proxy) giveUp(e *errand) {
	c := e.client
	if e.over() || !p.has(c) || !c.speaker(wire.Meta{}).errandsCan("cancel") {
		return
	}
	params := append(rawjson.AppendString([]byte(`{"taskId":`), e.theirs), '}')
	p.reach(c, e.upstream).Send(wire.AppendRequest(nil, rawjson.AppendString(nil, randomID("pg-")), "tasks/cancel", params))
}
