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
	rawjson.Members(c.params, func(key, value []byte, _ int) bool {
		switch {
		case slices.Contains(named, string(key)):
		case string(key) == "_meta":
			rawjson.Members(value, func(key, value []byte, _ int) bool {
				if !ofHop(key) && !ofRequest(key, value) && !ofTrace(key) {
					meta = appendMember(meta, key, value)
				}
				return true
			})
		case !ofExchange(key):
			members = appendMember(members, key, value)
		}
		return true
	})
	return closed(members), closed(meta)
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
			meta = appendMember(slices.Clone(bytes.TrimSuffix(meta, []byte{'}'})), key, value)
			meta = closed(meta)
		}
		return true
	})
	var params []byte
	switch {
	case same:
		return c
	case meta == nil:
		params = AppendWithout(nil, c.params, "_meta")
	case c.Meta == nil:
		params = AppendStamped(nil, c.params, append([]byte(`"_meta":`), meta...))
	default:
		params = ReplaceMember(nil, c.params, "_meta", meta)
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

// ofExchange reports whether a member of params is made anew for the upstream.
func ofExchange(key []byte) bool {
	switch fieldOf(key) {
	case fieldResponses, fieldState:
		return true
	}
	return false
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

func appendMember(object, key, value []byte) []byte {
	if object == nil {
		object = []byte{'{'}
	} else {
		object = append(object, ',')
	}
	return append(append(rawjson.AppendString(object, string(key)), ':'), value...)
}

func closed(object []byte) []byte {
	if object == nil {
		return nil
	}
	return append(object, '}')
}
