package pipeline

import (
	"context"
	"encoding/json"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/serve/approval"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxShown bounds the size of an approval that a client is asked to show. A longer one is
// never cut: a channel that shows all of it has to be used.
const maxShown = 32 << 10

const (
	inputKey   = "approval" // key of the question among the inputRequests
	approveTag = "approve"
)

// A prompt is a question that a client shows to its person.
type prompt struct {
	told <-chan struct{} // closed when the client knows that it does not any more; nil: another call showed it, or none did
	gone <-chan struct{} // closed when the call that showed it is gone, and the prompt with it; nil: it is this one
}

// elicit sends elicitation/create to a client with a handshake, on the stream of the call.
// The answer counts as long as the question is open, also for a later call. Calls with the
// same question share one prompt. Where another channel answers first, the request is
// cancelled at the client.
func (p *Pipeline) elicit(c *Call, r *approval.Request) prompt {
	first, over := p.Approvals.Show(r)
	if !first {
		return prompt{gone: over}
	}
	answer := make(chan []byte, 1)
	told := make(chan struct{})
	gone := make(chan struct{})
	context.AfterFunc(c.ctx, func() {
		if !c.wanted() {
			close(gone)
		}
	})
	asked := &session.ClientRequest{Answer: func(result, _ []byte) {
		if result == nil { // an error means that nobody was asked
			result = []byte(`{}`)
		}
		answer <- result
	}}
	if !c.Client.ClientRequests.Open(asked) {
		p.Approvals.Unshow(r)
		return prompt{}
	}
	p.Approvals.Put(r, approval.Elicit)
	asked.Send(c.Stream, "elicitation/create", p.elicitParams(r))
	if !p.Life.Background(func() {
		defer close(told)
		timer := time.NewTimer(r.Expires.Sub(p.Life.Now()))
		defer timer.Stop()
		select {
		case result := <-answer:
			p.takeElicitation(r, approval.Elicit, result)
			return
		case <-r.Answered():
		case <-gone:
		case <-timer.C:
		case <-p.Life.Ctx.Done():
		}
		if !asked.Withdraw() { // the client has just answered
			p.takeElicitation(r, approval.Elicit, <-answer)
			return
		}
		p.Approvals.Unshow(r)
		c.say(asked.Cancelled("answered elsewhere or no longer needed"))
	}) {
		asked.Withdraw()
		close(told)
	}
	return prompt{told: told}
}

// say sends a notification on the stream of the call, or if that has ended, on the stream
// of the session.
func (c *Call) say(note []byte) {
	post, ok := c.Stream.(*events.Post)
	switch {
	case !ok:
		c.Stream.Send(note)
	case !post.Try(note):
		c.Client.Out.Send(note)
	}
}

// canElicit reports whether the client can show all of r to its person.
func (p *Pipeline) canElicit(c *Call, r *approval.Request) bool {
	return r.Allows(approval.Elicit) && c.Peer.Elicit && r.Size <= maxShown && !r.WasUnasked() && !p.Approvals.Approves(r) && len(p.text(r)) <= maxShown
}

// elicitByResult returns the question for a client of 2026-07-28, which answers it in the
// next round of the call.
func (p *Pipeline) elicitByResult(r *approval.Request) answer {
	p.Approvals.Put(r, approval.Elicit)
	state := p.Sealer.Seal(seal.Round{Approval: r.ID, Channel: approval.Elicit, Expires: r.Expires}, r.Key.Bytes())
	return inputRequired{state: state, question: p.elicitParams(r)}
}

// inputRequired is an InputRequiredResult (2026-07-28): it asks for another round.
type inputRequired struct {
	state    string
	question []byte // params of elicitation/create; nil: none
}

func (a inputRequired) append(dst, id []byte, _ *rev.Rev) []byte {
	result := []byte(`{"resultType":"input_required"`)
	if a.question != nil {
		result = append(result, `,"inputRequests":{"`+inputKey+`":{"method":"elicitation/create","params":`...)
		result = append(append(result, a.question...), `}}`...)
	}
	result = append(result, `,"requestState":`...)
	result = append(rawjson.AppendString(result, a.state), '}')
	return wire.AppendResult(dst, id, result)
}

// elicitParams returns the params of elicitation/create. They ask for one choice without a
// default, because some clients accept an empty form by themselves.
func (p *Pipeline) elicitParams(r *approval.Request) []byte {
	params, err := json.Marshal(map[string]any{
		"message": p.text(r),
		"requestedSchema": map[string]any{
			"type": "object",
			"properties": map[string]any{
				"decision": map[string]any{"type": "string", "title": "Decision", "enum": []string{approveTag, "deny"}},
				"reason":   map[string]any{"type": "string", "title": "Reason (optional)"},
			},
			"required": []string{"decision"},
		},
	})
	if err != nil {
		panic(err) // plain data
	}
	return params
}

// readResponse reads the inputResponses of a client of 2026-07-28. They count only with a
// requestState that the proxy made for this very call, in a round with a question. It
// returns the number of rounds so far.
func (p *Pipeline) readResponse(c *Call, r *approval.Request) int {
	if !c.Peer.Rev.InputRequired || !c.params.HasState {
		return 0
	}
	state, err := p.Sealer.Open(p.Life.Ctx, c.params.RequestState)
	if err != nil || state.Approval != r.ID || !state.For(r.Key.Bytes()) {
		return 0
	}
	response, ok := rawjson.Member(c.params.InputResponses, inputKey)
	if ok {
		if state.Elsewhere && !r.WasUnasked() { // another process has put the question there, as it says
			p.Approvals.Put(r, state.Channel)
		}
		p.takeElicitation(r, state.Channel, response)
	}
	return state.Number
}

// takeElicitation takes the result of an elicitation. Only an acceptance whose decision is
// to approve approves. A cancellation means that nobody was asked.
func (p *Pipeline) takeElicitation(r *approval.Request, channel string, result []byte) {
	switch action := spec.Member(result, "action"); action {
	case "accept":
		content, _ := rawjson.Member(result, "content")
		approve := spec.Member(content, "decision") == approveTag
		p.resolveByClient(r.ID, approve, channel, spec.Member(content, "reason"))
	case "decline":
		p.resolveByClient(r.ID, false, channel, "")
	default:
		p.Approvals.MarkUnasked(r, channel)
	}
}

// resolveByClient resolves an approval by the answer of the client's person.
func (p *Pipeline) resolveByClient(id string, approve bool, channel, reason string) {
	if err := p.Resolve("", id, approve, channel, "the client", reason); err != nil {
		p.Life.Log.Info("answer to an approval ignored", "approval", id, "reason", err)
	}
}
