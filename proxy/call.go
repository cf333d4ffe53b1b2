package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/approval"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var (
	errCancelled = errors.New("cancelled by the client")
	errGone      = errors.New("the client is gone")
	errClosing   = errors.New("the proxy ends")
	errNoInput   = errors.New("the client did not come back with what it was asked for")
)

// A toolCall is one tools/call on its way, or a prompts/get or resources/read. What the gate decides on, what a
// person is shown and what the upstream gets all come from its one parse.
type toolCall struct {
	proxy  *Proxy
	client *client
	stream stream
	agent  agent
	method string
	id     []byte    // on the wire
	params wire.Call // what is left of them once it is sent
	digest string    // of the arguments, once it is sent
	meta   wire.Meta
	tool   *tool
	gate   gate.Call
	input  input // of another round

	turn    *turn       // to be decided; nil: at once
	headers http.Header // of a request that has to mirror arguments in them; nil: it has not

	consent      *approval.Request // which let it pass, if one did
	approved     *approvedBeside   // nil: no person did
	emulatesTask bool              // its server runs it as a task, of which its client is told nothing

	// ctx is what waiting for a person ends with.
	ctx   context.Context //nolint:containedctx // the call is what it would be passed with
	aside func(func())    // runs what may wait; where nobody else is kept waiting, at once
	notes *notes          // for the goroutine of the client; nil: they are written at once

	mu      sync.Mutex
	landed  chan landing // for the goroutine of the client, where one waits
	stopped error        // why it is not wanted any more
	stop    context.CancelCauseFunc
	flight  *flight
	ended   bool // it has its answer, or will get none

	size      int         // of its message, as it is counted while it waits
	held      atomic.Bool // it is counted
	reserved  atomic.Bool // it has a place among the calls under way at its upstream
	taskPlace atomic.Bool // and one among the tasks of its session
}

// An answer is what a client is told instead of an upstream's result.
type answer interface {
	append(dst, id []byte, modern bool) []byte
}

// serve decides a call, and forwards it if it may run. What its upstream
// answers comes to [flight.finish]. The order is the security property of the
// proxy: nothing is sent before the decision is on record, and no token is
// produced before the outcome is. It never waits, but aside.
func (p *Proxy) serve(t *toolCall) {
	t.readInput()
	if p.goOn(t) || p.taskRefused(t) {
		return
	}
	if a := p.unreachable(t); a != nil {
		t.answer(a)
		return
	}
	if a := p.unrecordable(t); a != nil {
		t.answer(a)
		return
	}
	if a := p.reserve(t); a != nil {
		t.answer(a)
		return
	}
	switch d := p.decide(t).(type) {
	case *gate.Allow:
		p.admit(t, d)
	case *gate.Refusal:
		t.release()
		t.answer(p.reject(t, d))
	case *gate.Ask:
		t.release()                     // a place is for those that run
		t.unhold()                      // the book of approvals counts
		t.aside(func() { p.ask(t, d) }) // a person may think for long
	}
}

// decide asks the gate, when it is the turn of the call.
func (p *Proxy) decide(t *toolCall) gate.Decision {
	t.turn.take(nil)
	defer t.turn.leave()
	return t.client.session.knowing(p.catalogue.load()).Decide(t.gate, nil)
}

// sent forgets the message that the call came in, whose arguments may be large:
// the upstream has them. A client, or an upstream that does not answer, would
// otherwise have us keep them for as long as it likes. Of the arguments only
// their hash stays.
func (t *toolCall) sent() {
	t.unhold()
	t.digest = t.argumentsDigest()
	t.params, t.input.responses = t.params.Sent(), nil
	t.gate = gate.Call{Time: t.gate.Time}
}

// argumentsDigest is the SHA-256 of the arguments.
func (t *toolCall) argumentsDigest() string {
	if t.digest != "" {
		return t.digest
	}
	return wire.Digest(t.params.Arguments)
}

// cancel is for a client that does not want the answer any more, or is gone.
// A call that was not sent yet never is.
func (t *toolCall) cancel(reason error) {
	t.mu.Lock()
	if t.stopped == nil {
		t.stopped = reason
	}
	stop, f := t.stop, t.flight
	t.mu.Unlock()
	if stop != nil {
		stop(reason)
	}
	if f != nil {
		f.abandon(reason)
	}
}

// bind makes the context that waiting for a person ends with.
func (t *toolCall) bind(ctx context.Context) {
	ctx, stop := context.WithCancelCause(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ctx, t.stop = ctx, stop
	if t.stopped != nil {
		stop(t.stopped)
	}
}

// close notes that the call is over for its client, once.
func (t *toolCall) close() bool {
	t.mu.Lock()
	first := !t.ended
	t.ended = true
	stop := t.stop
	t.mu.Unlock()
	if first {
		t.unhold()
		t.client.requests.end(wire.IDKey(t.id))
		if stop != nil {
			stop(nil)
		}
	}
	return first
}

// end is conclude with an answer, which is not written where nobody waits for
// it: what a server says to a cancellation may come before we have done with it.
func (t *toolCall) end(send func()) {
	wanted := t.wanted()
	t.conclude(func() {
		if wanted {
			send()
		}
	})
}

// conclude ends the call for its client by the answer that send writes, after
// all that its upstream has told before.
func (t *toolCall) conclude(send func()) {
	if t.close() {
		if t.notes != nil {
			t.notes.writeTo(t.stream)
		}
		send()
		t.client.requests.answered()
	}
}

// wanted reports whether somebody still waits for the answer.
func (t *toolCall) wanted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped == nil || errors.Is(t.stopped, errClosing)
}

// admit puts an allowed call on record and sends it. A call that cannot be
// recorded is refused; its deferred tokens go back.
func (p *Proxy) admit(t *toolCall, d *gate.Allow) {
	if t.params.HasState && t.agent.modern && !t.input.ours {
		p.takeBack(t, d.Ticket)
		t.refuseAs(codeInvalidParams, seal.ErrState.Error())
		return
	}
	if err := p.recordAllow(t, d); err != nil {
		p.takeBack(t, d.Ticket)
		t.answer(p.unrecorded(t, err))
		return
	}
	p.advisor.touch(t.client.session)
	p.noteWould(t, d.Would)
	p.launch(t, d.Ticket)
}

func (p *Proxy) recordAllow(t *toolCall, d *gate.Allow) error {
	if !p.recorder.Active() {
		return nil
	}
	entry := p.decisionRecord(t, "allow", d.Names)
	entry.Call = d.Ticket.Number
	for _, v := range d.Nets {
		entry.Nets = append(entry.Nets, audit.NetSays{Net: v.Net, Verdict: audit.VerdictName(v.Kind), Transition: v.Transition, Rule: p.where(v.Rule), Shadow: v.Shadow})
	}
	entry.Would = p.would(d.Would)
	return p.recorder.Write(entry)
}

// reject records a refusal. It is refused whether or not that can be recorded.
func (p *Proxy) reject(t *toolCall, d *gate.Refusal) answer {
	r := p.refuse(t, d)
	p.recordRefusal(t, r, d)
	return r
}

func (p *Proxy) recordRefusal(t *toolCall, r refusal, d *gate.Refusal) {
	if r.facts.Decision != "ask" { // which is told once, and not at each round
		p.log.Info("call refused", "tool", t.tool.canonical, "session", t.client.session.id, "kind", r.facts.Kind, "reason", r.text)
	}
	if !p.recorder.Active() {
		return
	}
	var names []gate.Name
	if d != nil {
		names = d.Names
	}
	entry := p.decisionRecord(t, r.facts.Decision, names)
	entry.Kind, entry.Reason, entry.Remedy = r.facts.Kind, r.text, r.facts.Remedy
	if len(entry.Reason) > maxRecordedReason {
		entry.Reason = text.Excerpt(entry.Reason, maxRecordedReason)
	}
	if entry.Approval == "" {
		entry.Approval = r.facts.Approval
	}
	for _, b := range r.facts.Nets {
		entry.Nets = append(entry.Nets, audit.NetSays{Net: b.Net, Verdict: audit.VerdictName(gate.Blocked), Rule: b.Rule})
	}
	if err := p.recorder.Write(entry); err != nil {
		p.log.Error("recording a refusal", "error", err)
	}
}

func (p *Proxy) decisionRecord(t *toolCall, decision string, names []gate.Name) audit.Decision {
	r := audit.Decision{
		Time: p.options.Now(), Event: "decision", Decision: decision, Policy: p.policy,
		Session: t.client.session.id, Principal: t.client.principal, Client: recorded(t.agent.name), ID: string(t.id),
		Upstream: t.tool.upstream.config.Name, Tool: t.recorded(), Arguments: t.argumentsDigest(),
		Shadow: p.options.Policy.Shadow(),
	}
	for _, n := range names[:min(len(names), maxRecordedNames)] {
		r.Names = append(r.Names, recorded(n.Text))
	}
	if c := t.consent; c != nil {
		said := p.approvals.Status(c)
		r.Approval, r.Channel, r.Actor = c.ID, said.Channel, said.Actor
	}
	return r
}

// Bounds of what callers can write into one record.
const (
	maxRecordedNames  = 64
	maxRecordedText   = 256
	maxRecordedReason = 4 << 10
)

// recorded is a text that a caller has chosen as it stands on record: a name may
// come from an argument of any length.
func recorded(name string) string { return text.Excerpt(name, maxRecordedText) }

// unreachable answers a call whose upstream is known to be down before the
// gate is asked, so that nothing is spent on it.
func (p *Proxy) unreachable(t *toolCall) answer {
	state := t.tool.upstream.State()
	if state.Phase == upstream.Up {
		return nil
	}
	name := t.tool.upstream.config.Name
	if r, ok := t.unauthorized(state.Err).(refusal); ok {
		p.recordRefusal(t, r, nil)
		return r
	}
	r := plainRefusal("unavailable", fmt.Sprintf("The upstream %s is not running, so %s was not called and nothing was spent. %s",
		name, t.tool.exposed, "Other tools may work; try again later."))
	p.recordRefusal(t, r, nil)
	return r
}

// unrecordable answers a call before the gate is asked where its decision is
// known not to go on record.
func (p *Proxy) unrecordable(t *toolCall) answer {
	if err := p.recorder.Ready(); err != nil {
		return p.unrecorded(t, err)
	}
	return nil
}

func (p *Proxy) unrecorded(t *toolCall, err error) answer {
	p.log.Error("call refused", "tool", t.tool.canonical, "error", err)
	return plainRefusal("internal", "The call was not made: "+audit.ErrUnrecorded.Error()+".")
}

// answer sends a whole JSON-RPC answer that is ours, if anybody waits for it.
func (t *toolCall) answer(a answer) {
	t.end(func() { t.answerOnly(a) })
}

// answerOnly is answer for a request that is not one of the client's open ones.
// A refusal can be told as a result only where a tool was called.
func (t *toolCall) answerOnly(a answer) {
	r, refused := a.(refusal)
	switch {
	case refused && t.method != callTool:
		t.stream.Reply(wire.AppendError(nil, t.id, codeInvalidRequest, r.text, nil))
	case refused && t.asTask(): // a result would have to be a task
		t.stream.Reply(wire.AppendError(nil, t.id, codeInvalidRequest, r.text, r.meta()))
	default:
		t.stream.Reply(a.append(nil, t.id, t.agent.modern))
	}
}

// pass sends what the upstream said.
func (t *toolCall) pass(head, body []byte) {
	t.end(func() { t.stream.Reply(head, body, wire.Tail) })
}

// deliver sends what the upstream said, byte for byte, or what went wrong.
func (t *toolCall) deliver(r upstream.Reply, facts wire.Facts) {
	switch {
	case errors.Is(r.Err, errCancelled) || errors.Is(r.Err, errGone) || errors.Is(r.Err, context.Canceled):
		t.conclude(func() {}) // nobody waits for an answer
	case r.Err != nil:
		t.answer(t.failed(r.Err))
	case r.Error != nil:
		t.proxy.away.at(t.tool.upstream).demands(t.client, r.Error)
		t.pass(wire.ErrorHead(t.id), r.Error)
	case facts.Handle() && t.method == callTool:
		t.answer(unanswered("unknown", gate.Unknown, fmt.Sprintf(
			"The upstream made a task of %s that cannot be followed: its outcome is unknown. Find out before calling it again.", t.tool.exposed)))
	case facts.Type == wire.TypeInputRequired:
		t.answer(unanswered("unsupported", gate.Failure, fmt.Sprintf(
			"The upstream asked for more input before it would run %s. That is not supported yet; the call did not complete.", t.tool.exposed)))
	default:
		t.pass(wire.ResultHead(t.id), t.tool.upstream.theirs(r.Result, t.method, t.agent.modern))
	}
}

// failed is what a client is told where there is no result.
func (t *toolCall) failed(err error) answer {
	name := t.tool.upstream.config.Name
	if a := t.unauthorized(err); a != nil {
		return a
	}
	if errors.Is(err, upstream.ErrNotSent) {
		return unanswered("unavailable", gate.Failure, fmt.Sprintf("The upstream %s could not be reached; %s was not called.", name, t.tool.exposed))
	}
	var status *upstream.StatusError
	if errors.As(err, &status) && !status.Executed() {
		return unanswered("unavailable", gate.Failure, fmt.Sprintf("The upstream %s turned the request away: %v. %s did not run.", name, err, t.tool.exposed))
	}
	return unanswered("unknown", gate.Unknown, fmt.Sprintf(
		"The outcome of %s is unknown: upstream %s: %v. It may or may not have taken effect; find out before calling it again.",
		t.tool.exposed, name, err))
}
