package wire

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// ParseUpstream reads the envelope of one message of an upstream. The values of params, result and
// error are only checked to be balanced, so that they cannot extend beyond their place. Members
// unknown to JSON-RPC are ignored, and the proxy's own members are removed at any depth. The id of
// a response must be an integer, since the proxy sends no others; a request can have any valid id.
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

// upstreamMessage validates e as a message of an upstream. Some upstreams write null for the absent
// one of result and error.
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
		reason = "" // left to the caller
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

// UpstreamError returns an upstream's error object without the proxy's own members, for errors
// outside a message that [ParseUpstream] can read.
func UpstreamError(failure []byte) []byte { return withoutOwn(failure) }
