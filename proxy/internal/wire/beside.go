package wire

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// OtherParams returns the parts of the params that reach the upstream besides the named members:
// the other members, and the members of _meta that are neither about the hop from the client nor
// for tracing. Each result is an object, or nil if it would be empty.
func (c Call) OtherParams(named ...string) (members, meta []byte) {
	var others, metas rawjson.Object
	rawjson.Members(c.params, func(key, value []byte, _ int) bool {
		switch f := fieldOf(key); {
		case slices.Contains(named, string(key)) || f == fieldResponses || f == fieldState: // this member is rewritten for the upstream
		case f == fieldMeta:
			rawjson.Members(value, func(key, value []byte, _ int) bool {
				if !ofHop(key) && !ofRequest(key, value) && !ofTrace(key) {
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

// WithMetaShown returns a copy of c with the _meta that a person has seen, which [Call.OtherParams]
// returned at that time. From the _meta of c itself, it keeps only the members that identify the
// request. It drops other tracing members, because the person has not seen them.
func (c Call) WithMetaShown(meta []byte) Call {
	_, own := c.OtherParams()
	same := bytes.Equal(own, meta)
	rawjson.Members(c.Meta, func(key, value []byte, _ int) bool {
		if same = same && !ofTrace(key); ofRequest(key, value) {
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
		panic(fault.Message) // cannot happen: the parts have been parsed before
	}
	return c
}

// ofRequest reports whether a member of _meta only identifies the request.
func ofRequest(key, value []byte) bool {
	switch string(key) {
	case keyProgressToken:
		return true
	case "traceparent":
		return traceparent.Match(value)
	}
	return false
}

// traceparent has a fixed length and cannot carry any other data (W3C Trace Context, version 00).
var traceparent = regexp.MustCompile(`^"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"$`)

// ofTrace reports whether a member of _meta is for tracing and may carry arbitrary data.
func ofTrace(key []byte) bool { return string(key) == "tracestate" || string(key) == "baggage" }
