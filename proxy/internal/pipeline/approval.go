package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// An askedCall is a call that needs a person's approval. It exists until the call is forwarded or
// refused.
type askedCall struct {
	*Pipeline
	call  *Call
	asked *admission.Asked
}

// Resolve records a person's answer to an approval request, and logs who answered through which
// channel.
func (p *Pipeline) Resolve(person, id string, approve bool, channel, actor, reason string) error {
	err := p.Approvals.AnswerAs(person, id, approve, channel, actor, reason)
	if rejected, ok := errors.AsType[*approval.RejectedError](err); ok {
		return errors.Join(rejected, p.Admission.NoteAnswer(p.Life.Ctx, rejected.Rejection, rejected.Record))
	}
	if err != nil {
		return err
	}
	found, _ := p.Approvals.Find(id)
	p.Life.Log.Info(asking.AnsweredLogLine(found, approve, channel, actor), logkind.Approval, "reason", text.Escape(found.Answer.Reason))
	if p.Approval.Answered != nil {
		p.Approval.Answered(found)
	}
	return nil
}

// openRequest opens an approval request for the call, or joins one that is already open. If no
// person can be asked, it returns the refusal to send to the client.
func (q *askedCall) openRequest() (*approval.Request, answer) {
	key := q.key()
	r, err := q.Approvals.Open(key, q.displayedCall(), q.asked.Ask)
	if errors.Is(err, approval.ErrStore) {
		q.Life.Log.Error("could not ask for approval", "tool", q.call.Tool.Canonical, "error", err)
		err = approval.ErrStore
	}
	if err != nil {
		return nil, q.refuseDenied(fmt.Sprintf("%s requires human approval, but %v.", q.call.Tool.Exposed, err), nil)
	}
	return r, nil
}

// consent returns a person's answer to the approval request r, in the form written to the audit
// log.
func (p *Pipeline) consent(r *approval.Request) *admission.Consent {
	said := p.Approvals.Status(r)
	return &admission.Consent{ID: r.ID, Channel: said.Channel, Actor: said.Actor}
}

// TellOperators logs that a call from the named client is waiting for a person's answer, and calls
// Approval.Asked, if set. It does so only once per approval request.
func (p *Pipeline) TellOperators(r *approval.Request, client string) {
	if !p.Approvals.Announce(r) {
		return
	}
	asked := p.Approvals.Look(r)
	p.Life.Log.Info(asking.WaitingLogLine(asked.Call, r.ID, client, asking.HowToAnswer(r, p.Approval.Verb)), logkind.Approval)
	if p.Approval.Asked != nil {
		p.Approval.Asked(asked)
	}
}

// text returns the question shown to people about the approval request r.
func (p *Pipeline) text(r *approval.Request) string {
	return p.Approvals.Look(r).Text(p.Where, p.Life.Now())
}

// waitingRefusal returns the refusal for a call that is still waiting for a person's answer.
func waitingRefusal(text string, r *approval.Request) refusal {
	return refusal{&admission.Refused{Text: text, Facts: admission.Facts{Decision: "ask", Kind: "approval", Approval: r.ID}}}
}

// refuseDenied records the refusal of a call that was not approved, and returns the response for
// the client. said holds the approval request and the answer that are recorded. If said is nil, the
// record contains neither.
func (q *askedCall) refuseDenied(text string, said *admission.Consent) answer {
	return refusal{q.Admission.Deny(q.Life.Ctx, q.call.admission(), q.asked.Ask, text, said)}
}

// key returns the key of the question about the call. An approval applies to every call with the
// same key.
func (q *askedCall) key() approval.Key {
	steps := ""
	for _, s := range q.asked.Steps {
		steps += s.Net + "\x00" + s.Transition + "\x00"
	}
	arguments := rawjson.Omit(q.call.params.Arguments, q.asked.Generation.Policy.Ignored(&q.call.admitting.Gate))
	return approval.Key{
		Session: q.call.State.ID, Tool: q.call.Tool.Canonical, Definition: q.call.Tool.Definition,
		Arguments: wire.Digest(arguments), Beside: q.call.otherParamsDigest(), Policy: q.asked.Generation.Fingerprint, Steps: wire.Digest([]byte(steps)),
	}
}

// displayedCall returns the call in the form displayed to people.
func (q *askedCall) displayedCall() approval.Call {
	client := q.call.Peer.Name
	if q.call.Peer.Version != "" {
		client += " " + q.call.Peer.Version
	}
	beside, meta := q.call.otherParams()
	return approval.Call{
		Upstream: q.call.Tool.Upstream.Config.Name, Tool: q.call.Tool.Name,
		Arguments: q.call.params.Arguments, Size: len(q.call.params.Arguments), SHA256: wire.Digest(q.call.params.Arguments), Beside: beside, Meta: meta,
		Session: q.call.State.ID, Client: client, Principal: q.call.Client.Principal,
		Ignored: q.asked.Generation.Policy.Ignored(&q.call.admitting.Gate),
	}
}

// approvedParams returns a description of the params, other than the arguments, that a person has
// approved. It omits _meta if it is too large to store.
func (q *askedCall) approvedParams() *rounds.Approved {
	members, meta := q.call.otherParams()
	if len(meta) > MaxKeptWhole {
		meta = nil
	}
	return &rounds.Approved{Beside: wire.Digest(members), Meta: meta}
}

// maxShown is the maximum size, in bytes, of an approval request that a client is asked to show. A
// larger request is not truncated. Instead, another channel shows it in full.
const maxShown = 32 << 10

// A prompt is a question that a client shows to its user.
type prompt struct {
	ended    <-chan struct{} // closed when the prompt has ended, and has been canceled at the client if necessary; nil if this call shows no prompt
	callGone <-chan struct{} // closed when another call stops showing the prompt; nil if no other call shows it
}

// elicitChannel chooses how to ask the client's user about the request r. If the client can show
// all of r in a form, it returns the channel for a form. Otherwise, it returns the channel for the
// approval page. It returns "" if neither is possible, if the user has already approved r or opened
// the page, or if an earlier question was not shown to anyone.
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

// An elicitation is an elicitation/create request for an approval, sent to a client that has sent
// initialize.
type elicitation struct {
	*session.ClientRequest
	call    *Call
	request *approval.Request
	channel string      // [approval.Elicit] for a form, [approval.URL] for the approval page
	id      string      // elicitationId of the approval page
	result  chan []byte // receives the client's result
	gone    chan struct{}
}

// elicit sends elicitation/create on the stream of the call, to a client that has sent initialize.
// Calls with the same question share one prompt. An answer given while the question is open also
// counts for later calls. If an answer arrives first through another channel, the client's request
// is canceled.
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
		if !q.call.isWanted() {
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

// await waits for the elicitation to end, and handles the client's answer. Opening the approval
// page does not count as an answer.
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
	case open && !e.Withdraw(): // the client answered first
		p.handleElicitation(r, e.channel, <-e.result)
	case open:
		p.Approvals.Unshow(r)
		e.call.ownStream().notify(e.Cancelled("answered elsewhere, or no longer needed"))
		return
	}
	if e.channel == approval.URL && r.WasOpened() {
		e.call.ownStream().notify(asking.CompletedNotification(e.id))
	}
}

// question returns the params of an elicitation/create request about the approval request r. The
// approval page's URL contains no credentials; the page itself authenticates its visitors.
func (p *Pipeline) question(r *approval.Request, channel, id string) []byte {
	if channel == approval.Elicit {
		return asking.Form(p.text(r))
	}
	return asking.Page(fmt.Sprintf("Allow %s? The page of approval %s shows the complete call.", p.Approvals.Look(r).Call.Subject(), r.ID), p.Approval.Page(r.ID), id)
}

// An inputAnswer responds with an InputRequiredResult (2026-07-28), which asks the client to send
// the call again.
type inputAnswer struct {
	state    string
	question []byte // params of elicitation/create; nil if the client is not asked a question
}

func (a inputAnswer) append(dst, id []byte, _ *rev.Rev) []byte {
	return wire.AppendResult(dst, id, asking.InputRequired(a.question, a.state))
}

// readResponse handles a client's answer in the inputResponses of revision 2026-07-28. The answer
// counts only if the proxy created the requestState for the approval request r. An
// InputRequiredResult without a question only makes the client call again. readResponse returns the
// number of such results that the client has received.
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
		if state.Elsewhere && !r.WasUnasked() { // the sealed requestState proves that another process asked the client
			q.Approvals.Put(r, state.Channel)
		}
		q.handleElicitation(r, state.Channel, response)
	}
	return state.Number
}

// handleElicitation handles the result of an elicitation. Only an accepted form with the decision
// "approve" approves the call. A canceled form means that no person was asked. A result for the
// approval page is never an answer: "accept" means only that the person has opened the page.
func (p *Pipeline) handleElicitation(r *approval.Request, channel string, result []byte) {
	said := asking.Read(result)
	switch page := channel == approval.URL; {
	case page && said.Accepted:
		r.MarkOpened()
	case page || !said.Accepted && !said.Declined:
		p.Approvals.MarkUnasked(r, channel)
	default:
		err := p.Resolve("", r.ID, said.Approve, channel, "the client", said.Reason)
		if _, told := errors.AsType[*approval.RejectedError](err); err != nil && !told {
			p.Life.Log.Info("answer to an approval ignored", "approval", r.ID, "reason", err)
		}
	}
}
