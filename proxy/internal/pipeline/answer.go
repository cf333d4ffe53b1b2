package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// refuse tells the client that the gate has refused the call.
func (c *Call) refuse(r *admission.Refused) {
	if r.Err != nil { // the call itself is invalid
		c.answerError(wire.CodeInvalidParams, r.Err.Error())
		return
	}
	if c.isOver(r.Over) && c.refuseSession() {
		return
	}
	c.answer(refusal{r})
}

// isOver reports whether another process has ended the session of the client's connection.
// stateGone is true if the session whose nets decide on the call is known to have ended. If this is
// the same session, isOver does not need to read the database.
func (c *Call) isOver(stateGone bool) bool {
	own := c.Client.Session
	if own.About == nil || own.By != "connection" {
		return false // no other process can end this session
	}
	if stateGone && own == c.Client.State {
		return true
	}
	ctx, cancel := context.WithTimeout(c.pipeline.Life.Ctx, time.Second)
	defer cancel()
	info, err := c.pipeline.Admission.Sessions.Find(ctx, own.ID)
	return errors.Is(err, admission.ErrNoSession) || err == nil && info.Ended
}

// refuseSession sends the client an "unknown session" error (status 404 over HTTP), because another
// process has ended the session. It returns false if the client's transport cannot express that
// error.
func (c *Call) refuseSession() bool {
	s, ok := c.Stream.(interface {
		Refuse(status int, answer []byte) bool
	})
	if !ok {
		return false
	}
	c.trace.setResult(admission.Result{Code: wire.CodeInvalidRequest})
	c.end(func() {
		if !s.Refuse(http.StatusNotFound, wire.AppendError(nil, c.ID, wire.CodeInvalidRequest, "unknown session", nil)) {
			c.AnswerOnly(PlainRefusal("internal", "The call was not made: the session has ended."))
		}
	})
	return true
}

// answerError ends the call with a JSON-RPC error.
func (c *Call) answerError(code int, text string) {
	c.trace.setResult(admission.Result{Code: code})
	c.end(func() { c.Stream.Reply(wire.AppendError(nil, c.ID, code, text, nil)) })
}

// answer ends the call with the given response, unless the client has stopped waiting.
func (c *Call) answer(a answer) {
	c.trace.setRefusal(a)
	c.end(func() { c.AnswerOnly(a) })
}

// AnswerOnly writes a response but leaves the call among the client's open requests. It can thus
// refuse a call whose ID is already in use. A refused tools/call gets a tool result, unless it asks
// for a task. All other refused requests get an error.
func (c *Call) AnswerOnly(a answer) {
	r, refused := a.(refusal)
	switch {
	case refused && c.Method != spec.CallTool:
		c.Stream.Reply(wire.AppendError(nil, c.ID, wire.CodeInvalidRequest, r.Text, nil))
	case refused && c.wantsTask(): // the client expects a CreateTaskResult and cannot read a tool result
		c.Stream.Reply(wire.AppendError(nil, c.ID, wire.CodeInvalidRequest, r.Text, r.meta()))
	default:
		c.Stream.Reply(a.append(nil, c.ID, c.Peer.Rev))
	}
}

// replyRaw ends the call with bytes received from the server.
func (c *Call) replyRaw(head, body []byte) {
	c.end(func() { c.Stream.Reply(head, body, wire.Tail) })
}

// end removes the call from the client's open requests. It writes the notifications that the server
// sent before its reply, and then calls send to write the response, unless send is nil or the
// client has stopped waiting. Later calls to end have no effect.
func (c *Call) end(send func()) {
	first, wanted, stop := c.markAnswered()
	if !first {
		return
	}
	if c.claims.Load() != 0 {
		c.release(room)
	}
	c.Client.Requests.End(c.IDKey)
	if c.trace != nil {
		c.trace.finish()
	}
	if stop != nil {
		stop(nil)
	}
	if c.outbox != nil {
		c.outbox.WriteTo(c.Stream)
	}
	if wanted && send != nil {
		send()
	}
	c.Client.Requests.Answered()
}

// deliver responds to the client with the server's reply, byte for byte, or with an explanation if
// no reply arrived.
func (c *Call) deliver(r upstream.Reply, facts wire.Facts) {
	if c.trace != nil {
		c.trace.setResult(resultOf(r))
	}
	switch {
	case errors.Is(r.Err, spec.ErrCancelled) || errors.Is(r.Err, spec.ErrGone) || errors.Is(r.Err, context.Canceled):
		c.end(nil) // no client is waiting for a response
	case r.Err != nil:
		c.answer(c.failureAnswer(r.Err))
	case r.Error != nil:
		c.pipeline.Reverse.URLElicitations.At(c.Tool.Upstream).RecordError(c.Client, r.Error)
		c.replyRaw(wire.ErrorHead(c.ID), r.Error)
	case facts.IsHandle() && c.Method == spec.CallTool:
		c.answer(unansweredRefusal("unknown", gate.Unknown, fmt.Sprintf(
			"The outcome of %s is unknown: the upstream turned it into a task that petrigate cannot follow. Find out before calling it again.", c.Tool.Exposed)))
	case facts.Type == wire.TypeInputRequired:
		c.answer(unansweredRefusal("unsupported", gate.Failure, fmt.Sprintf(
			"The upstream asked for more input before running %s, which is not supported yet; the call did not complete.", c.Tool.Exposed)))
	default:
		result := r.Result
		if !c.plain {
			result = c.Tool.Upstream.ResultFor(result, c.Method, c.Peer.Rev)
		}
		c.replyRaw(wire.ResultHead(c.ID), result)
	}
}

// failureAnswer returns the response to a call that failed with err before the server replied.
func (c *Call) failureAnswer(err error) answer {
	name := c.Tool.Upstream.Config.Name
	if a := c.unauthorizedAnswer(err); a != nil {
		return a
	}
	if held, ok := errors.AsType[*resendError](err); ok {
		return held.refusal
	}
	if errors.Is(err, upstream.ErrNotSent) {
		return unansweredRefusal("unavailable", gate.Failure, fmt.Sprintf("The upstream %s could not be reached; %s was not called.", name, c.Tool.Exposed))
	}
	if neverRan(err) {
		return unansweredRefusal("unavailable", gate.Failure, fmt.Sprintf("The upstream %s rejected the request: %v. %s did not run.", name, err, c.Tool.Exposed))
	}
	return unansweredRefusal("unknown", gate.Unknown, fmt.Sprintf(
		"The outcome of %s is unknown: upstream %s: %v. It may or may not have taken effect; find out before calling it again.",
		c.Tool.Exposed, name, err))
}

// unauthorizedAnswer returns the response to a call that was not forwarded because the upstream
// requires credentials, or nil if err has another cause.
func (c *Call) unauthorizedAnswer(err error) answer {
	u, ok := errors.AsType[*upstream.Unauthorized](err)
	if !ok {
		return nil
	}
	return PlainRefusal("unauthorized", fmt.Sprintf("%s was not called: %s.", c.Tool.Exposed, text.Escape(u.Error())))
}

// neverRan reports whether err proves that the server never started the call.
func neverRan(err error) bool {
	status, ok := errors.AsType[*upstream.StatusError](err)
	return errors.Is(err, upstream.ErrNotSent) || ok && !status.Executed()
}
