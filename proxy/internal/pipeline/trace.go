package pipeline

import (
	"cmp"
	"context"
	"strconv"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Members of _meta that carry the context of a trace (SEP-414).
const (
	keyTraceParent = "traceparent"
	keyTraceState  = "tracestate"
)

// A callTrace is what an observer follows of a call.
type callTrace struct {
	ctx    context.Context //nolint:containedctx // it carries the trace of the call
	end    func(admission.Result)
	asked  func(admission.Result)           // ends the wait for a person; nil: none is asked
	result atomic.Pointer[admission.Result] // that the client gets; a call may be cancelled meanwhile
}

// observe tells the observer, where there is one, that the call has come. The trace of the
// client is that of its _meta.
func (p *Pipeline) observe(c *Call, meta []byte) {
	if !p.Admission.Watch().Observed() {
		return
	}
	i := admission.Info{
		Key: c.Client.Session.Key(), Client: c.Peer.Name, Method: c.Method, ID: c.ID,
		Protocol: c.Peer.Protocol, Transport: c.Client.Transport,
		TraceParent: spec.Member(meta, keyTraceParent), TraceState: spec.Member(meta, keyTraceState),
	}
	if c.Tool != nil {
		i.Upstream, i.Tool = c.Tool.Upstream.Config.Name, c.recordedName()
	}
	t := &callTrace{}
	t.ctx, t.end = p.Admission.Watch().Receiving(p.Life.Ctx, i)
	c.trace = t
}

// context returns ctx, or the context of the trace where there is one.
func (t *callTrace) context(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return t.ctx
}

// ends notes what the client gets.
func (t *callTrace) ends(r admission.Result) {
	if t != nil {
		t.result.Store(&r)
	}
}

// endsWith notes that the client gets a.
func (t *callTrace) endsWith(a answer) {
	if r, ok := a.(refusal); ok && t != nil {
		t.result.Store(&admission.Result{Decision: r.Facts.Decision, Kind: r.Facts.Kind, Err: r.Err})
	}
}

// asking tells the observer that a person is asked about c.
func (t *callTrace) asking(c *Call) {
	if t != nil {
		_, t.asked = c.pipeline.Admission.Watch().Approving(t.ctx, c.admission())
	}
}

// askedFor tells the observer that nobody is asked any more.
func (t *callTrace) askedFor(r admission.Result) {
	if t != nil && t.asked != nil {
		t.asked(r)
		t.asked = nil
	}
}

// over tells the observer that the call is answered.
func (t *callTrace) over() {
	if t != nil {
		var r admission.Result
		if got := t.result.Load(); got != nil {
			r = *got
		}
		t.end(r)
	}
}

// joinTrace has the upstream that hop leads to told of the trace.
func joinTrace(hop *wire.Hop, trace func() (parent, state string)) {
	if trace == nil {
		return
	}
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

// appendMember returns members with one more, in memory of their own.
func appendMember(members []byte, key, value string) []byte {
	members = members[:len(members):len(members)]
	if len(members) > 0 {
		members = append(members, ',')
	}
	return rawjson.AppendString(append(rawjson.AppendString(members, key), ':'), value)
}

// resultOf is what the observer is told of a reply.
func resultOf(r upstream.Reply) admission.Result {
	if r.Error != nil {
		code, _ := rawjson.Member(r.Error, "code")
		n, _ := strconv.Atoi(string(code))
		return admission.Result{Code: cmp.Or(n, spec.CodeInternal)}
	}
	return admission.Result{Failed: r.Result != nil && wire.ResultFacts(r.Result).Failed, Err: r.Err}
}
