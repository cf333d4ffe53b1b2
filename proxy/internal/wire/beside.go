package wire

import (
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
				if !ofHop(key) && !ofTrace(key) {
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

// ofExchange reports whether a member of params is made anew for the upstream.
func ofExchange(key []byte) bool {
	switch fieldOf(key) {
	case fieldTask, fieldResponses, fieldState:
		return true
	}
	return false
}

// ofTrace reports whether a member of _meta only says which request it is.
func ofTrace(key []byte) bool {
	switch string(key) {
	case keyProgressToken, "traceparent", "tracestate", "baggage":
		return true
	}
	return false
}

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
