package wire

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Beside returns what goes on to the upstream beside the members of the params
// that are named: the others, and what _meta says that is neither about the hop
// from the client nor about tracing. Each is an object; nil: there is none.
func (c Call) Beside(named ...string) (members, meta []byte) {
	var others, metas rawjson.Object
	rawjson.Members(c.params, func(key, value []byte, _ int) bool {
		switch f := fieldOf(key); {
		case slices.Contains(named, string(key)) || f == fieldResponses || f == fieldState: // made anew for the upstream
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

// AsShown is c with the _meta that [Call.Beside] returned of the call that a
// person was shown, so that no other is forwarded. Of its own it keeps what only
// says which request it is; what else is for tracing, which nobody was shown, is
// left out.
func (c Call) AsShown(meta []byte) Call {
	_, own := c.Beside()
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
		panic(fault.Message) // its parts were read before
	}
	return c
}

// ofRequest reports whether a member of _meta only says which request it is.
func ofRequest(key, value []byte) bool {
	switch string(key) {
	case keyProgressToken:
		return true
	case "traceparent":
		return traceparent.Match(value)
	}
	return false
}

// traceparent is of fixed length: there is no room for anything else in it. See
// W3C Trace Context, version 00.
var traceparent = regexp.MustCompile(`^"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"$`)

// ofTrace reports whether a member of _meta is for tracing, and may say anything.
func ofTrace(key []byte) bool { return string(key) == "tracestate" || string(key) == "baggage" }
