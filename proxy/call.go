package proxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var (
	errCancelled = errors.New("cancelled by the client")
	errGone      = errors.New("the client is gone")
)

// A toolCall is one tools/call on its way. What the gate decides on, what a
// person is shown and what the upstream gets all come from its one parse.
type toolCall struct {
	client *client
	stream stream
	agent  agent
	id     []byte // on the wire
	params wire.Call
	meta   wire.Meta
	tool   *tool
	gate   gate.Call

	consent *approval // which let it pass, if one did
}

// An answer is what a client is told instead of an upstream's result.
type answer interface {
	append(dst, id []byte, modern bool) []byte
}

// serve decides a call, forwards it if it may run, settles it, and answers.
// The order is the security property of the proxy: nothing is sent before the
// decision is on record, and no token is produced before the outcome is.
func (p *Proxy) serve(ctx context.Context, t *toolCall) {
	if a := p.unreachable(t); a != nil {
		t.answer(a)
		return
	}
	ticket, refused := p.decide(ctx, t)
	if ticket == nil {
		if ctx.Err() == nil { // or else nobody waits for an answer
			t.answer(refused)
		}
		return
	}
	defer ticket.Close() // a panic settles as unknown
	if ctx.Err() != nil {
		p.settle(t, ticket, gate.Failure, "") // cancelled before it was sent: it never ran
		return
	}
	reply, open := p.forward(ctx, t)
	if open != nil {
		p.settleLate(t, ticket, open)
	} else {
		p.settle(t, ticket, outcome(reply), "")
	}
	t.deliver(reply)
}

// decide asks the gate, asks a person where the gate says so, and asks the
// gate again with the answer. A ticket means that the call is on record and
// may run.
func (p *Proxy) decide(ctx context.Context, t *toolCall) (*gate.Ticket, answer) {
	switch d := t.client.session.gate.Decide(t.gate, nil).(type) {
	case *gate.Allow:
		return p.admit(t, d)
	case *gate.Ask:
		defer t.client.session.gate.Withdraw(d)
		return p.ask(ctx, t, d)
	case *gate.Refusal:
		return nil, p.reject(t, d)
	default:
		return nil, plainRefusal("internal", "The gate gave no decision.")
	}
}

// admit puts an allowed call on record. A call that cannot be recorded is
// refused; its deferred tokens go back.
func (p *Proxy) admit(t *toolCall, d *gate.Allow) (*gate.Ticket, answer) {
	if !p.recorder.active() {
		return d.Ticket, nil
	}
	record := p.decisionRecord(t, "allow", d.Names)
	record.Call = d.Ticket.Number
	for _, v := range d.Nets {
		record.Nets = append(record.Nets, netSays{Net: v.Net, Verdict: verdictName(v.Kind), Transition: v.Transition, Rule: v.Rule.String()})
	}
	if err := p.recorder.write(record); err != nil {
		p.log.Error("call refused", "tool", t.tool.canonical, "error", err)
		d.Ticket.Settle(gate.Failure)
		return nil, plainRefusal("internal", "The call was not made: "+errUnrecorded.Error()+".")
	}
	return d.Ticket, nil
}

// reject records a refusal. It is refused whether or not that can be recorded.
func (p *Proxy) reject(t *toolCall, d *gate.Refusal) answer {
	r := refuse(d, t.gate.Time)
	p.recordRefusal(t, r, d)
	return r
}

func (p *Proxy) recordRefusal(t *toolCall, r refusal, d *gate.Refusal) {
	p.log.Info("call refused", "tool", t.tool.canonical, "session", t.client.session.id, "kind", r.facts.Kind, "reason", r.text)
	if !p.recorder.active() {
		return
	}
	var names []gate.Name
	if d != nil {
		names = d.Names
	}
	record := p.decisionRecord(t, r.facts.Decision, names)
	record.Kind, record.Reason = r.facts.Kind, r.text
	if record.Approval == "" {
		record.Approval = r.facts.Approval
	}
	for _, b := range r.facts.Nets {
		record.Nets = append(record.Nets, netSays{Net: b.Net, Verdict: verdictName(gate.Blocked), Rule: b.Rule})
	}
	if err := p.recorder.write(record); err != nil {
		p.log.Error("recording a refusal", "error", err)
	}
}

func (p *Proxy) decisionRecord(t *toolCall, decision string, names []gate.Name) decisionRecord {
	r := decisionRecord{
		Time: p.options.Now(), Event: "decision", Decision: decision, Policy: p.recorder.policy,
		Session: t.client.session.id, Principal: t.client.principal, Client: t.agent.name, ID: string(t.id),
		Upstream: t.tool.upstream.config.Name, Tool: t.tool.name, Arguments: digest(t.params.Arguments),
	}
	for _, n := range names {
		r.Names = append(r.Names, n.Text)
	}
	if c := t.consent; c != nil {
		r.Approval, r.Channel, r.Actor = c.id, c.channel, c.actor
	}
	return r
}

// unreachable answers a call whose upstream is known to be down before the
// gate is asked, so that nothing is spent on it.
func (p *Proxy) unreachable(t *toolCall) answer {
	state := t.tool.upstream.State()
	if state.Phase == upstream.Up {
		return nil
	}
	name := t.tool.upstream.config.Name
	r := plainRefusal("unavailable", fmt.Sprintf("The upstream %s is not running, so %s was not called and nothing was spent. %s",
		name, t.tool.exposed, "Other tools may work; try again later."))
	p.recordRefusal(t, r, nil)
	return r
}

// forward sends the call and waits for its reply. Where it stops waiting, the
// exchange that is still open comes with what the client is to be told.
func (p *Proxy) forward(ctx context.Context, t *toolCall) (upstream.Reply, *upstream.Exchange) {
	u := t.tool.upstream
	request := upstream.Request{Method: "tools/call", Name: t.tool.name, Notify: t.relay}
	hop := wire.Hop{Name: t.tool.name}
	if u.State().Era == upstream.Modern {
		hop.Modern, hop.Meta = true, u.RequestMeta()
	}
	if t.meta.ProgressToken != nil {
		request.Token = u.NewToken()
		hop.ProgressToken = strconv.AppendInt(nil, request.Token, 10)
	}
	request.Params = t.params.AppendForward(nil, hop)
	x := u.Send(request)
	timer := time.NewTimer(u.config.Timeout)
	defer timer.Stop()
	select {
	case r := <-x.Done():
		return r, nil
	case <-timer.C:
		x.Cancel("timeout")
		return upstream.Reply{Err: fmt.Errorf("no answer within %s", u.config.Timeout)}, x
	case <-ctx.Done():
		x.Cancel(context.Cause(ctx).Error())
		return upstream.Reply{Err: context.Cause(ctx)}, x
	}
}

// relay passes a notification that belongs to the call to its client, under
// the client's own progress token.
func (t *toolCall) relay(method string, params []byte) {
	switch method {
	case "notifications/progress":
		if t.meta.ProgressToken == nil {
			return
		}
		params = wire.ReplaceMember(nil, params, "progressToken", t.meta.ProgressToken)
	case "notifications/message":
		if !t.wantsLog(params) {
			return
		}
	default:
		return
	}
	t.stream.send(wire.AppendNotification(nil, method, params))
}

// wantsLog reports whether the client asked for a message of that level: by
// logging/setLevel, or since 2026-07-28 in the request itself.
func (t *toolCall) wantsLog(params []byte) bool {
	level := logLevels[member(params, "level")]
	if t.agent.modern {
		wanted, asked := logLevels[t.meta.LogLevel]
		return asked && level >= wanted
	}
	t.client.mu.Lock()
	defer t.client.mu.Unlock()
	return level >= logLevels[t.client.logLevel]
}

// answer sends a whole JSON-RPC answer that is ours.
func (t *toolCall) answer(a answer) {
	if a != nil {
		t.stream.reply(a.append(nil, t.id, t.agent.modern))
	}
}

// deliver sends what the upstream said, byte for byte, or what went wrong.
func (t *toolCall) deliver(r upstream.Reply) {
	switch {
	case errors.Is(r.Err, errCancelled) || errors.Is(r.Err, errGone):
		return // nobody waits for an answer
	case r.Err != nil:
		t.answer(t.failed(r.Err))
	case r.Error != nil:
		t.stream.reply(wire.ErrorHead(t.id), r.Error, wire.Tail)
	case !wire.Ended(r.Result):
		t.answer(plainRefusal("unsupported", fmt.Sprintf("The upstream asked for more input before it would run %s. That is not supported yet; the call did not complete.", t.tool.exposed)))
	case t.agent.modern:
		t.stream.reply(wire.ResultHead(t.id), wire.AppendStamped(nil, r.Result, []byte(`"resultType":"complete"`)), wire.Tail)
	default:
		t.stream.reply(wire.ResultHead(t.id), r.Result, wire.Tail)
	}
}

// failed is what a client is told where there is no result.
func (t *toolCall) failed(err error) answer {
	name := t.tool.upstream.config.Name
	if errors.Is(err, upstream.ErrNotSent) {
		return plainRefusal("unavailable", fmt.Sprintf("The upstream %s could not be reached; %s was not called.", name, t.tool.exposed))
	}
	return plainRefusal("unknown", fmt.Sprintf(
		"The outcome of %s is unknown: upstream %s: %v. It may or may not have taken effect; find out before calling it again.",
		t.tool.exposed, name, err))
}
