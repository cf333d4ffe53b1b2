package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxShown is the maximum size of an approval that a client is asked to show. Longer approvals are
// never truncated; they are shown in full through another channel.
const maxShown = 32 << 10

// A prompt is a question that a client shows to its user.
type prompt struct {
	ended    <-chan struct{} // closed when the client knows that the prompt has ended; nil: no prompt, or another call has shown it
	callGone <-chan struct{} // closed when the call that showed the prompt has ended, which also ends the prompt; nil: this call shows the prompt
}

// elicitChannel returns the channel through which the client asks its user about r: a form if the
// client can show all of r, otherwise the approval page, or "" if neither is possible. There are
// never two prompts for one question at the same time.
func (q *askedCall) elicitChannel(r *approval.Request) (channel string) {
	switch {
	case r.WasUnasked() || q.Approvals.Approves(r):
		return ""
	case r.Allows(approval.Elicit) && q.call.Peer.Elicit && r.Size <= maxShown && len(q.text(r)) <= maxShown:
		return approval.Elicit
	case r.Allows(approval.URL) && q.call.Peer.OpensURL() && !r.WasOpened() && q.Approval.Page(r.ID) != "":
		return approval.URL
	}
	return ""
}

// An elicitation is an elicitation/create request for an approval, sent to a client with a
// handshake.
type elicitation struct {
	*session.ClientRequest
	call    *Call
	request *approval.Request
	channel string      // [approval.Elicit] for a form, [approval.URL] for the approval page
	id      string      // elicitationId of the approval page
	result  chan []byte // receives the result that the client returns
	gone    chan struct{}
}

// elicit sends elicitation/create to a client with a handshake, on the stream of the call. While
// the question is open, the answer also counts for later calls. Calls with the same question share
// one prompt. If an answer arrives first through another channel, the request to the client is
// canceled.
func (q *askedCall) elicit(r *approval.Request, channel string) prompt {
	if channel == "" {
		return prompt{}
	}
	first, over := q.Approvals.Show(r)
	if !first {
		return prompt{callGone: over}
	}
	e := &elicitation{call: q.call, request: r, channel: channel, result: make(chan []byte, 1), gone: make(chan struct{})}
	if channel == approval.URL {
		e.id = lifetime.RandomID("pg-")
	}
	context.AfterFunc(q.call.ctx, func() {
		if !q.call.wanted() {
			close(e.gone)
		}
	})
	e.ClientRequest = &session.ClientRequest{Answer: func(result, _ []byte) {
		if result == nil { // an error means that no person was asked
			result = []byte(`{}`)
		}
		e.result <- result
	}}
	if !q.call.Client.ClientRequests.Open(e.ClientRequest) {
		q.Approvals.Unshow(r)
		return prompt{}
	}
	q.Approvals.Put(r, channel)
	e.Send(q.call.Stream, "elicitation/create", q.question(r, channel, e.id))
	told := make(chan struct{})
	if !q.Life.Background(func() {
		defer close(told)
		e.await()
	}) {
		e.Withdraw()
		close(told)
	}
	return prompt{ended: told}
}

// await waits until the elicitation ends, and handles the client's answer. Opening the approval
// page is not an answer.
func (e *elicitation) await() {
	p, r, open := e.call.pipeline, e.request, true
	timer := time.NewTimer(r.Expires.Sub(p.Life.Now()))
	defer timer.Stop()
	for waits := true; waits; {
		waits = false
		select {
		case result := <-e.result:
			p.handleElicitation(r, e.channel, result)
			if open, waits = false, e.channel == approval.URL && r.WasOpened(); !waits {
				return
			}
		case <-r.Answered():
		case <-e.gone:
		case <-timer.C:
		case <-p.Life.Ctx.Done():
		}
	}
	switch {
	case open && !e.Withdraw(): // the client has answered in the meantime
		p.handleElicitation(r, e.channel, <-e.result)
	case open:
		p.Approvals.Unshow(r)
		e.call.ownStream().notify(e.Cancelled("answered elsewhere, or no longer needed"))
		return
	}
	if e.channel == approval.URL && r.WasOpened() {
		e.call.ownStream().notify(asking.Completed(e.id))
	}
}

// elicitByResult returns the question as an InputRequiredResult for a client that uses revision
// 2026-07-28. The client answers it in the next round of the call.
func (p *Pipeline) elicitByResult(r *approval.Request, channel string) answer {
	p.Approvals.Put(r, channel)
	state := p.Sealer.Seal(seal.Round{Approval: r.ID, Channel: channel, Expires: r.Expires}, r.Key.Bytes())
	return inputRequired{state: state, question: p.question(r, channel, "")}
}

// question returns the params of an elicitation/create request about r. The URL of the approval
// page contains no credentials, because the page itself authenticates its visitors.
func (p *Pipeline) question(r *approval.Request, channel, id string) []byte {
	if channel == approval.Elicit {
		return asking.Form(p.text(r))
	}
	return asking.Page(fmt.Sprintf("Allow %s? The page of approval %s shows the complete call.", p.Approvals.Look(r).Call.Subject(), r.ID), p.Approval.Page(r.ID), id)
}

// inputRequired is an InputRequiredResult (2026-07-28), which asks for another round.
type inputRequired struct {
	state    string
	question []byte // params of elicitation/create; nil: no question
}

func (a inputRequired) append(dst, id []byte, _ *rev.Rev) []byte {
	return wire.AppendResult(dst, id, asking.InputRequired(a.question, a.state))
}

// readResponse reads the inputResponses from a client that uses revision 2026-07-28. They count
// only if the proxy created the requestState for this very call, in a round that contained a
// question. readResponse returns the number of rounds so far.
func (q *askedCall) readResponse(r *approval.Request) int {
	if !q.call.Peer.Rev.InputRequired || !q.call.params.HasState {
		return 0
	}
	state, err := q.Sealer.Open(q.Life.Ctx, q.call.params.RequestState)
	if err != nil || state.Approval != r.ID || !state.For(r.Key.Bytes()) {
		return 0
	}
	response, ok := rawjson.Member(q.call.params.InputResponses, asking.Key)
	if ok {
		if state.Elsewhere && !r.WasUnasked() { // the sealed state proves that another process has asked the client
			q.Approvals.Put(r, state.Channel)
		}
		q.handleElicitation(r, state.Channel, response)
	}
	return state.Number
}

// handleElicitation handles the result of an elicitation. Only a form that was accepted with the
// decision "approve" approves the call. A canceled form means that no person was asked. A result
// for the approval page is never an answer: "accept" only means that the person has opened the page
// in order to answer there.
func (p *Pipeline) handleElicitation(r *approval.Request, channel string, result []byte) {
	said := asking.Read(result)
	switch page := channel == approval.URL; {
	case page && said.Accepted:
		r.MarkOpened()
	case page || !said.Accepted && !said.Declined:
		p.Approvals.MarkUnasked(r, channel)
	default:
		p.resolveByClient(r.ID, said.Approve, channel, said.Reason)
	}
}

// resolveByClient resolves an approval request with the answer from the client's user.
func (p *Pipeline) resolveByClient(id string, approve bool, channel, reason string) {
	err := p.Resolve("", id, approve, channel, "the client", reason)
	if _, told := errors.AsType[*approval.RejectedError](err); err != nil && !told {
		p.Life.Log.Info("answer to an approval ignored", "approval", id, "reason", err)
	}
}
