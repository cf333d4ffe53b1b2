package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxInputRounds is the maximum number of times that a server may ask for input in one call.
const maxInputRounds = 16

// subject returns the identifier that binds a requestState to this call.
func (c *Call) subject() []byte {
	return []byte(strings.Join([]string{
		"round", c.Client.Session.ID, c.Method, c.Tool.Canonical, c.Tool.Definition, c.argumentsDigest(),
	}, "\x00"))
}

// readInput reads the input of a call that the client has sent again. A server does not have to use
// a requestState. If the call has no requestState, readInput forwards the inputResponses unchanged,
// but they never count as a person's approval. If it has one, readInput forwards them only if the
// proxy created the requestState for this call when the server asked for input. If a person has
// approved the call, all params except _meta must equal the approved ones.
func (c *Call) readInput() {
	if !c.Peer.Rev.InputRequired {
		return
	}
	if !c.params.HasState {
		c.input = input{responses: c.params.InputResponses, ours: true}
		return
	}
	state, err := c.pipeline.Sealer.Open(c.pipeline.Life.Ctx, c.params.RequestState)
	switch {
	case err != nil:
		c.input = input{}
	case state.Approval != "": // the responses answer the proxy's own question
		c.input = input{ours: true}
	case state.For(c.subject()) && (state.Beside == "" || state.Beside == c.otherParamsDigest()):
		c.input = input{responses: c.params.InputResponses, round: state.Number, suspended: state.Pause, elsewhere: state.Elsewhere, ours: true}
		if state.State != nil {
			c.input.state, c.input.hasState = *state.State, true
		}
	}
}

// wantsInput reports whether the server's reply is an InputRequiredResult (2026-07-28).
func (f *inflightCall) wantsInput(r upstream.Reply, facts wire.Facts) bool {
	return f.rev.InputRequired && r.Result != nil && facts.Type == wire.TypeInputRequired && !facts.Broken
}

// checkSupported returns an error unless the client supports all of the given requests.
func checkSupported(a session.Peer, requests []spec.InputRequest) error {
	for _, r := range requests {
		if !a.Answers(r.Method, r.Params) {
			return fmt.Errorf("the client does not support %s", text.Escape(r.Method))
		}
	}
	return nil
}

// askAll sends the server's requests to the client concurrently, and returns the results as
// inputResponses. If there are no requests, it returns nil.
func (p *Pipeline) askAll(c *Call, requests []spec.InputRequest) ([]byte, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, p.Approval.Expire, errors.New("the client did not answer in time"))
	defer cancel()
	var all sync.WaitGroup
	answers := make([][]byte, len(requests))
	failures := make([]error, len(requests))
	for i, r := range requests {
		all.Go(func() { answers[i], failures[i] = p.askClient(ctx, c, r) })
	}
	all.Wait()
	var responses rawjson.Object
	for i, r := range requests {
		if failures[i] != nil {
			return nil, failures[i]
		}
		responses = responses.Raw(r.Key, answers[i])
	}
	return responses.Bytes(), nil
}

// askClient sends a request to the client on the stream of the call, and returns the result. If the
// client refuses an elicitation, askClient returns a result with the action "cancel". If it refuses
// any other request, askClient returns an error.
func (p *Pipeline) askClient(ctx context.Context, c *Call, r spec.InputRequest) ([]byte, error) {
	p.Reverse.URLElicitations.At(c.Tool.Upstream).RecordRequest(c.Client, r.Method, r.Params)
	result, failure, err := c.Client.ClientRequests.Ask(ctx, c.Stream, r.Method, reverse.WithElicitationID(r.Method, c.Tool.Upstream.WithServerName(r.Params)))
	switch {
	case err != nil:
		return nil, err
	case result != nil:
		return result, nil
	case r.Method == "elicitation/create":
		return []byte(`{"action":"cancel"}`), nil
	}
	return nil, fmt.Errorf("the client refused %s: %s", r.Method, text.Escape(rawjson.StringAt(failure, "message")))
}
