package wire

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// ParseUpstream reads the envelope of one message of an upstream. What is in
// params, result and error is known to be balanced, so that it cannot reach
// out of its place, and nothing else. Members that JSON-RPC does not know are
// ignored, and those in our own name are left out, wherever they stand. The id of
// a response is an integer, since only those are sent; that of a request is what
// the upstream chose.
func ParseUpstream(line []byte) (Message, error) {
	line = oneLine(line, '\t')
	var e envelope
	variant := ""
	whole := rawjson.Members(line, func(key, value []byte, at int) bool {
		if variant = variantOf(key, envelopeKeys); variant != "" {
			return false
		}
		e.take(key, value, at)
		return e.twice == nil
	})
	switch {
	case variant != "":
		return Message{}, fmt.Errorf("reading a message: a member differs from %q in case only", variant)
	case e.twice != nil:
		return Message{}, fmt.Errorf("reading a message: duplicate member %q", e.twice)
	case !whole:
		return Message{}, errors.New("reading a message: not a JSON object")
	}
	return e.upstreamMessage(line)
}

// upstreamMessage is the reading of e for messages of upstreams. Some write
// the one of result and error that there is not as null.
func (e *envelope) upstreamMessage(raw []byte) (Message, error) {
	e.unknown = nil
	if string(e.err) == "null" {
		e.err = nil
	} else if e.err != nil && string(e.result) == "null" {
		e.result = nil
	}
	id := e.id
	if !validID(id) {
		id = nil
	}
	reason := e.invalid(id)
	if reason == resultNotObject {
		reason = "" // for the caller to judge
	}
	m := e.envelopeOf(id, raw)
	if _, ours := m.Int(); reason == "" && m.Kind == Response && !ours {
		reason = "the id is none of ours"
	}
	if reason != "" {
		return Message{}, errors.New("reading a message: " + reason)
	}
	m.Params, m.Result, m.Error = withoutOwn(m.Params), withoutOwn(m.Result), withoutOwn(m.Error)
	return m, nil
}

// UpstreamError is an error object that came in no message that [ParseUpstream]
// could read, without the members that are ours.
func UpstreamError(failure []byte) []byte { return withoutOwn(failure) }
