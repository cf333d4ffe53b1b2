package pipeline

import (
	"cmp"
	"context"
	"strconv"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Members of _meta that hold a trace context (SEP-414).
const (
	keyTraceParent = "traceparent"
	keyTraceState  = "tracestate"
)

// A callTrace reports the progress of a call to the observer (telemetry). A nil callTrace does
// nothing.
type callTrace struct {
	ctx         context.Context //nolint:containedctx // carries the trace of the call
	endSpan     func(admission.Result)
	approvalEnd func(admission.Result)           // ends the span that covers the wait for an approval; nil if the call does not wait for one
	result      atomic.Pointer[admission.Result] // result sent to the client; atomic, because a cancellation can end the call concurrently
}

// context returns a context that carries the trace, or ctx if the call is not traced.
func (t *callTrace) context(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return t.ctx
}

// setResult stores the result that will be reported to the observer at the end of the call.
func (t *callTrace) setResult(r admission.Result) {
	if t != nil {
		t.result.Store(&r)
	}
}

// setRefusal stores a refusal that will be reported to the observer at the end of the call. It
// ignores answers that are not refusals.
func (t *callTrace) setRefusal(a answer) {
	if r, ok := a.(refusal); ok && t != nil {
		t.result.Store(&admission.Result{Decision: r.Facts.Decision, Kind: r.Facts.Kind, Err: r.Err})
	}
}

// endApproval tells the observer that the wait for a person ended with the result r.
func (t *callTrace) endApproval(r admission.Result) {
	if t != nil && t.approvalEnd != nil {
		t.approvalEnd(r)
		t.approvalEnd = nil
	}
}

// finish tells the observer that the call has been answered. It must not be called on a nil
// callTrace.
func (t *callTrace) finish() {
	var r admission.Result
	if got := t.result.Load(); got != nil {
		r = *got
	}
	t.endSpan(r)
}

// joinTrace adds the trace context to the _meta of the upstream request.
func joinTrace(hop *wire.Hop, trace func() (parent, state string)) {
	parent, state := trace()
	if parent == "" {
		return
	}
	hop.Trace = true
	hop.Meta = appendMember(hop.Meta, keyTraceParent, parent)
	if state != "" {
		hop.Meta = appendMember(hop.Meta, keyTraceState, state)
	}
}

// appendMember returns a copy of members with one more JSON member.
func appendMember(members []byte, key, value string) []byte {
	members = members[:len(members):len(members)]
	if len(members) > 0 {
		members = append(members, ',')
	}
	return rawjson.AppendString(append(rawjson.AppendString(members, key), ':'), value)
}

// resultOf converts a server's reply to a result for the observer.
func resultOf(r upstream.Reply) admission.Result {
	if r.Error != nil {
		code, _ := rawjson.Member(r.Error, "code")
		n, _ := strconv.Atoi(string(code))
		return admission.Result{Code: cmp.Or(n, wire.CodeInternal)}
	}
	return admission.Result{Failed: r.Result != nil && wire.ResultFacts(r.Result).Failed, Err: r.Err}
}

// observe tells the observer that the call has arrived. It continues the trace in the client's
// _meta, if any.
func (p *Pipeline) observe(c *Call, meta []byte) {
	i := admission.Info{
		Key: c.Client.Session.Key(), Client: c.Peer.Name, Method: c.Method, ID: c.ID,
		Protocol: c.Peer.Protocol, Transport: c.Client.Transport,
		TraceParent: rawjson.StringAt(meta, keyTraceParent), TraceState: rawjson.StringAt(meta, keyTraceState),
	}
	if c.Tool != nil {
		i.Upstream, i.Tool = c.Tool.Upstream.Config.Name, c.recorded
	}
	t := &callTrace{}
	t.ctx, t.endSpan = p.Admission.Watch.StartCall(p.Life.Ctx, i)
	c.trace = t
}
