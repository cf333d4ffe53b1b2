package wire

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxName is the maximum length of a tool name in bytes.
const maxName = 512

// A Call holds the params of a tools/call request. Its byte slices refer to the message and must
// not be modified.
type Call struct {
	Name           string
	Arguments      []byte // the arguments object; nil if absent, which means {}
	Meta           []byte // the _meta object; nil if absent
	Task           []byte // the task object; nil if absent
	InputResponses []byte // the inputResponses object; nil if absent
	RequestState   string
	HasState       bool // whether requestState is present, even if it is empty

	params []byte
	index  index
}

// Source returns the params exactly as received.
func (c Call) Source() []byte { return c.params }

// ParseCall parses the params of a message returned by [Parse]. It is meant for methods whose
// params must contain a name, such as tools/call.
func ParseCall(m Message) (Call, *Fault) {
	c, fault := ParseRequest(m)
	if fault != nil {
		return Call{}, fault
	}
	switch {
	case c.Name == "":
		return Call{}, invalidParams(m.ID, `"name" is missing or empty`)
	case len(c.Name) > maxName:
		return Call{}, invalidParams(m.ID, `"name" is longer than `+strconv.Itoa(maxName)+" bytes")
	case strings.ContainsFunc(c.Name, unicode.IsControl):
		return Call{}, invalidParams(m.ID, `"name" has a control character`)
	}
	return c, nil
}

// ParseRequest is like [ParseCall], but for methods whose params may be absent or have no name.
func ParseRequest(m Message) (Call, *Fault) {
	c := Call{params: m.Params, index: m.index}
	if m.Params == nil {
		c.params, c.index.end = []byte(`{}`), 1
	}
	for _, f := range c.index.fields[:c.index.n] {
		value := m.Params[f.at:f.end:f.end]
		valid := value[0] == '{'
		switch f.name {
		case fieldTool:
			c.Name, valid = rawjson.String(value)
		case fieldState:
			c.RequestState, valid = rawjson.String(value)
			c.HasState = true
		case fieldArguments:
			c.Arguments = value
		case fieldMeta:
			c.Meta = value
		case fieldTask:
			c.Task = value
		case fieldResponses:
			c.InputResponses = value
		}
		if !valid {
			return Call{}, invalidParams(m.ID, strconv.Quote(fieldKeys[f.name])+" is of the wrong type")
		}
	}
	return c, nil
}

// A Hop describes how the params of a call change on their way from the proxy to an upstream.
type Hop struct {
	Name string // name of the tool at the upstream

	// Meta holds members of _meta for an upstream that uses revision 2026-07-28 or later, written
	// as "key":value and separated by commas. Their keys must be among the io.modelcontextprotocol/
	// keys that Call.AppendForward removes. If Trace is set, the keys of the trace context are
	// allowed, too.
	Meta []byte

	// Trace is true if Meta contains a trace context. That context replaces the client's.
	Trace bool

	// ProgressToken replaces the client's progress token. If it is nil, the client's token is
	// dropped. It has no effect if the client has sent none.
	ProgressToken []byte

	// Task and the fields below it replace the client's members of the same names. If a field is
	// nil, the member is dropped.
	Task           []byte
	InputResponses []byte
	RequestState   string
	HasState       bool
}

// AppendForward appends the params of c for an upstream. It makes the changes described by h, and
// omits the _meta members that apply only between the client and the proxy. Everything else is
// copied byte for byte.
func (c Call) AppendForward(dst []byte, h Hop) []byte {
	out := splice(dst, c.params)
	has := [fieldState + 1]bool{}
	for _, f := range c.index.fields[:c.index.n] {
		has[f.name] = true
		switch f.name {
		case fieldTool:
			if h.Name != c.Name {
				out.copyUpTo(f.at)
				out.dst = rawjson.AppendString(out.dst, h.Name)
				out.done = f.end
			}
		case fieldMeta:
			forwardMeta(&out, f, h)
		case fieldTask:
			replaceOrDrop(&out, f, h.Task)
		case fieldResponses:
			replaceOrDrop(&out, f, h.InputResponses)
		case fieldState:
			var state []byte
			if h.HasState {
				state = rawjson.AppendString(nil, h.RequestState)
			}
			replaceOrDrop(&out, f, state)
		}
	}
	out.copyUpTo(c.index.end)
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

func replaceOrDrop(out *splicer, f field, by []byte) {
	if by == nil {
		out.drop(f)
		return
	}
	out.replace(f, by)
}

// forwardMeta copies the member _meta with the changes described by h, but without the members that
// must not be forwarded. If this leaves _meta empty, forwardMeta drops _meta, too.
func forwardMeta(out *splicer, f field, h Hop) {
	before := *out
	out.copyUpTo(f.at)
	meta := out.src[f.at:f.end]
	inner := splice(out.dst, meta)
	last, dropped := 1, false
	rawjson.Members(meta, func(key, value []byte, at int) bool {
		member := field{from: last, at: at, end: at + len(value)}
		last = member.end
		switch {
		case string(key) == keyProgressToken && h.ProgressToken != nil:
			inner.replace(member, h.ProgressToken)
		case string(key) == keyProgressToken || isHopMember(key) || h.Trace && (string(key) == "traceparent" || string(key) == "tracestate"):
			inner.drop(member)
			dropped = true
		}
		return true
	})
	inner.copyUpTo(last)
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

// OtherParams returns the params that an approval must show besides those with the given keys. The
// first result contains the params themselves, without _meta, inputResponses and requestState. The
// second result contains the members of _meta, without trace data and without members that apply
// only between the client and the proxy. A malformed traceparent is included, because it could
// carry other data. Each result is a JSON object, or nil if it would be empty.
func (c Call) OtherParams(named ...string) (members, meta []byte) {
	var others, metas rawjson.Object
	rawjson.Members(c.params, func(key, value []byte, _ int) bool {
		switch f := fieldOf(key); {
		case slices.Contains(named, string(key)) || f == fieldResponses || f == fieldState: // the upstream gets other values for these members
		case f == fieldMeta:
			rawjson.Members(value, func(key, value []byte, _ int) bool {
				if !isHopMember(key) && !identifiesRequest(key, value) && !isTraceData(key) {
					metas = metas.Raw(string(key), value)
				}
				return true
			})
		default:
			others = others.Raw(string(key), value)
		}
		return true
	})
	if others != nil {
		members = others.Bytes()
	}
	if metas != nil {
		meta = metas.Bytes()
	}
	return members, meta
}

// WithMetaShown returns a copy of c that forwards only the given members of _meta, which a person
// has seen; see [Call.OtherParams]. The copy also keeps the members that identify the request,
// because they carry no other data. If c already forwards only these members, WithMetaShown returns
// c itself.
func (c Call) WithMetaShown(meta []byte) Call {
	_, own := c.OtherParams()
	same := bytes.Equal(own, meta)
	rawjson.Members(c.Meta, func(key, value []byte, _ int) bool {
		if same = same && !isTraceData(key); identifiesRequest(key, value) {
			meta = SetMember(meta, string(key), value)
		}
		return true
	})
	if same {
		return c
	}
	params := AppendWithout(nil, c.params, "_meta")
	if meta != nil {
		params = SetMember(c.params, "_meta", meta)
	}
	x, fault := indexParams(nil, params)
	if fault == nil {
		c, fault = ParseRequest(Message{Params: params, index: x})
	}
	if fault != nil {
		panic(fault.Message) // cannot happen, because the parts were parsed before
	}
	return c
}

// identifiesRequest reports whether a member of _meta only identifies the request and carries no
// other data.
func identifiesRequest(key, value []byte) bool {
	switch string(key) {
	case keyProgressToken:
		return true
	case "traceparent":
		return traceparent.Match(value)
	}
	return false
}

// traceparent matches a traceparent member (W3C Trace Context, version 00). Such a member has a
// fixed length and cannot carry any other data.
var traceparent = regexp.MustCompile(`^"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"$`)

// isTraceData reports whether a member of _meta is for tracing and may carry arbitrary data.
func isTraceData(key []byte) bool { return string(key) == "tracestate" || string(key) == "baggage" }
