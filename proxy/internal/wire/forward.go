package wire

import "github.com/petrigate/petrigate/internal/rawjson"

// A Hop is what changes in the params of a call on the way to an upstream.
type Hop struct {
	Name string // of the tool there

	// Meta are members that an upstream of 2026-07-28 or later gets in _meta, written as
	// "key":value with commas between them. Their keys must be those of
	// io.modelcontextprotocol/ that Call.AppendForward removes, or with Trace those of that.
	Meta []byte

	// Trace: the context of a trace is among Meta, and that of the client is not sent.
	Trace bool

	// ProgressToken takes the place of the client's. Nil: none. Without one
	// of the client's it is not sent.
	ProgressToken []byte

	// What the upstream gets of these, whatever the client sent. Nil: none.
	Task           []byte
	InputResponses []byte
	RequestState   string
	HasState       bool
}

// AppendForward appends the params of c for the upstream behind h: the source
// bytes, but for what h says and for the members of _meta that tell about the
// hop from the client. Where nothing changes they are the source bytes.
func (c Call) AppendForward(dst []byte, h Hop) []byte {
	out := splice(dst, c.params)
	has := [fieldState + 1]bool{}
	for _, f := range c.index.fields[:c.index.n] {
		has[f.name] = true
		c.forward(&out, f, h)
	}
	out.upTo(c.index.end)
	if h.Task != nil && !has[fieldTask] {
		out.add([]byte(`"task":`), h.Task)
	}
	if h.InputResponses != nil && !has[fieldResponses] {
		out.add([]byte(`"inputResponses":`), h.InputResponses)
	}
	if h.HasState && !has[fieldState] {
		out.add([]byte(`"requestState":`), rawjson.AppendString(nil, h.RequestState))
	}
	if len(h.Meta) > 0 && !has[fieldMeta] {
		out.add([]byte(`"_meta":{`), h.Meta, []byte{'}'})
	}
	return out.close()
}

// forward changes one member as h says.
func (c *Call) forward(out *splicer, f field, h Hop) {
	switch f.name {
	case fieldTool:
		if h.Name != c.Name {
			out.upTo(f.at)
			out.dst = rawjson.AppendString(out.dst, h.Name)
			out.done = f.end
		}
	case fieldMeta:
		forwardMeta(out, f, h)
	case fieldTask:
		replaceOrDrop(out, f, h.Task)
	case fieldResponses:
		replaceOrDrop(out, f, h.InputResponses)
	case fieldState:
		if !h.HasState {
			out.drop(f)
			return
		}
		out.replace(f, rawjson.AppendString(nil, h.RequestState))
	}
}

func replaceOrDrop(out *splicer, f field, by []byte) {
	if by == nil {
		out.drop(f)
		return
	}
	out.replace(f, by)
}

// forwardMeta rewrites _meta, and drops it if nothing of it is left.
func forwardMeta(out *splicer, f field, h Hop) {
	before := *out
	out.upTo(f.at)
	meta := out.src[f.at:f.end]
	inner := splice(out.dst, meta)
	last, dropped := 1, false
	rawjson.Members(meta, func(key, value []byte, at int) bool {
		member := field{from: last, at: at, end: at + len(value)}
		last = member.end
		switch {
		case string(key) == keyProgressToken && h.ProgressToken != nil:
			inner.replace(member, h.ProgressToken)
		case string(key) == keyProgressToken || ofHop(key) || h.Trace && (string(key) == "traceparent" || string(key) == "tracestate"):
			inner.drop(member)
			dropped = true
		}
		return true
	})
	inner.upTo(last)
	if len(h.Meta) > 0 {
		inner.add(h.Meta)
	}
	if dropped && !inner.some {
		*out = before
		out.drop(f)
		return
	}
	out.dst, out.done = inner.close(), f.end
}
