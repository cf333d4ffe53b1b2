package proxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A relayed request is one that no gate decides on: it goes to one upstream as
// it came, and so does the answer. Calls, whose outcome moves nets, are
// flights instead.
type relayed struct {
	client   *client
	stream   stream
	agent    agent
	message  wire.Message
	meta     wire.Meta
	upstream *upstreamState
	name     string // for the header of revision 2026-07-28
	notes    *notes // for the goroutine that waits for the answer

	patient bool // the answer may take longer than the upstream may

	onNotification func(method string, params []byte) // of the upstream, with the request
	onRequest      func(q *upstream.ServerRequest)    // of the upstream, with the request

	change func(params []byte) []byte // of the params on their way; nil: none
	amend  func(result []byte) []byte // of the result on its way back; nil: none
}

func newRelayed(c *client, m wire.Message, meta wire.Meta, s stream, u *upstreamState) *relayed {
	return &relayed{client: c, stream: s, agent: c.speaker(meta), message: m, meta: meta, upstream: u, notes: newNotes()}
}

// relayed returns the request m of c, which is to be passed on to u.
func (p *Proxy) relayed(c *client, m wire.Message, meta wire.Meta, s stream, u *upstreamState) *relayed {
	r := newRelayed(c, m, meta, s, u)
	r.onNotification = func(method string, params []byte) {
		if !p.tasks.notification(r.upstream, method, params) {
			r.notify(method, params)
		}
	}
	r.onRequest = func(q *upstream.ServerRequest) {
		if !p.tasks.serverRequest(r.upstream, q) && r.mayAsk(q) {
			p.passOn(r.client, noteStream{r.notes}, r.upstream, q)
		}
	}
	return r
}

// relay sends m to u and passes the answer on. It reports whether that is a
// result.
func (p *Proxy) relay(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream, u *upstreamState) bool {
	return p.relayed(c, m, meta, s, u).serve(ctx)
}

func (r *relayed) serve(ctx context.Context) bool {
	reply, err := r.exchange(ctx)
	switch {
	case ctx.Err() != nil:
		return false // nobody waits for an answer
	case err != nil:
		r.stream.Reply(wire.AppendError(nil, r.message.ID, codeInternal, err.Error(), nil))
	case reply.Error != nil:
		r.stream.Reply(wire.ErrorHead(r.message.ID), reply.Error, wire.Tail)
	default:
		if r.amend != nil {
			reply.Result = r.amend(reply.Result)
		}
		r.stream.Reply(wire.ResultHead(r.message.ID), r.upstream.theirs(reply.Result, r.message.Method, r.agent.rev), wire.Tail)
		return true
	}
	return false
}

// exchange sends the request and waits for the reply, no longer than the
// upstream may take.
func (r *relayed) exchange(ctx context.Context) (upstream.Reply, error) {
	u := r.upstream
	request, fault := r.request()
	if fault != nil {
		return upstream.Reply{}, fault
	}
	x := u.Send(request)
	timer := time.NewTimer(u.config.Timeout)
	defer timer.Stop()
	if r.patient {
		timer.Stop()
	}
	var err error
	for err == nil {
		select {
		case <-r.notes.wake:
			r.notes.writeTo(r.stream)
		case reply := <-x.Done():
			r.notes.writeTo(r.stream) // what came before it
			if reply.Err != nil {
				err = fmt.Errorf("upstream %s: %v", u.config.Name, reply.Err)
			}
			return reply, err
		case <-timer.C:
			err = fmt.Errorf("upstream %s gave no answer within %s", u.config.Name, u.config.Timeout)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	x.Cancel(err.Error())
	return upstream.Reply{}, err
}

// request is the message as the upstream gets it.
func (r *relayed) request() (upstream.Request, error) {
	call, fault := wire.ParseRequest(r.message)
	if fault != nil {
		return upstream.Request{}, errors.New(fault.Message)
	}
	out := upstream.Request{Method: r.message.Method, Name: r.name, Notify: r.onNotification, Ask: r.onRequest}
	hop := wire.Hop{Name: call.Name}
	if r.message.Method == "tasks/update" { // there they are what it is about
		hop.InputResponses = call.InputResponses
	}
	if r.upstream.rev().PerRequest {
		hop.Modern, hop.Meta = true, r.client.withLogLevel(r.agent, r.meta, r.upstream.RequestMeta(r.agent.relayed()))
	}
	if r.meta.ProgressToken != nil {
		out.Token = r.upstream.NewToken()
		hop.ProgressToken = strconv.AppendInt(nil, out.Token, 10)
	}
	out.Params = call.AppendForward(nil, hop)
	if r.change != nil {
		out.Params = r.change(out.Params)
	}
	return out, nil
}

// notify passes a notification that belongs to the request to its client.
func (r *relayed) notify(method string, params []byte) {
	if note := r.client.note(r.agent, r.meta, method, params); note != nil {
		r.notes.add(note)
	}
}

// mayAsk reports whether a request of the upstream can be put to the client, and
// else refuses it. In 2026-07-28 these methods have no rounds.
func (r *relayed) mayAsk(q *upstream.ServerRequest) bool {
	if r.agent.rev.InputRequired {
		refuseRequest(q)
		return false
	}
	return mayAsk(r.agent, q)
}

// note is a notification of an upstream that belongs to a request, under the
// client's own progress token; nil: the client does not want it.
func (c *client) note(a agent, meta wire.Meta, method string, params []byte) []byte {
	switch method {
	case "notifications/progress":
		if meta.ProgressToken == nil {
			return nil
		}
		params = wire.ReplaceMember(nil, params, "progressToken", meta.ProgressToken)
	case "notifications/message":
		if !c.wantsLog(a, meta, params) {
			return nil
		}
	case elicitationComplete:
		if !a.rev.CompleteURL {
			return nil
		}
	default:
		return nil
	}
	return wire.AppendNotification(nil, method, params)
}

// wantsLog reports whether the client asked for a message of that level: by
// logging/setLevel, or since 2026-07-28 in the request itself.
func (c *client) wantsLog(a agent, meta wire.Meta, params []byte) bool {
	level := logLevels[member(params, "level")]
	if a.rev.LevelInMeta {
		wanted, asked := logLevels[meta.LogLevel]
		return asked && level >= wanted
	}
	return level >= logLevels[c.level()]
}

// withLogLevel adds to the _meta for an upstream of 2026-07-28 the level of the log
// messages that the client wants: without it there are none.
func (c *client) withLogLevel(a agent, m wire.Meta, meta []byte) []byte {
	level := m.LogLevel
	if !a.rev.LevelInMeta {
		level = c.askedLevel()
	}
	if _, known := logLevels[level]; !known || meta == nil {
		return meta
	}
	return append(meta[:len(meta):len(meta)], `,"io.modelcontextprotocol/logLevel":"`+level+`"`...)
}

// theirs is a result of u for a client. Between two of [rev.Rev2025] nothing has
// a meaning that could differ, so that nothing is changed.
func (u *upstreamState) theirs(result []byte, method string, client *rev.Rev) []byte {
	if client == rev.Rev2025 && u.rev() == rev.Rev2025 {
		return result
	}
	return client.Result(result, method)
}
