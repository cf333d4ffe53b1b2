package pipeline

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/serve/approval"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/session"
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
