package wire

import (
	"bytes"
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// perRequest is the first revision whose requests identify the client in _meta.
const perRequest = "2026-07-28"

// Meta holds the members of a request's _meta that concern the hop from the client.
type Meta struct {
	ProgressToken      []byte // string or integer; nil: absent
	ProtocolVersion    string
	ClientInfo         []byte // object; nil: absent
	ClientCapabilities []byte // object; nil: absent
	LogLevel           string
}

// Clone returns a deep copy of m, for callers that keep it longer than the message.
func (m Meta) Clone() Meta {
	m.ProgressToken, m.ClientInfo, m.ClientCapabilities = bytes.Clone(m.ProgressToken), bytes.Clone(m.ClientInfo), bytes.Clone(m.ClientCapabilities)
	return m
}

// ParseMeta reads the _meta of the params of any method. params can be nil. The fault has no ID,
// since the caller knows it.
func ParseMeta(params []byte) (Meta, *Fault) {
	var m Meta
	meta, ok := rawjson.Member(params, "_meta")
	if !ok {
		return m, nil
	}
	bad := ""
	whole := rawjson.Members(meta, func(key, value []byte, _ int) bool {
		if !m.take(key, value) {
			bad = "_meta: " + strconv.QuoteToASCII(string(key)) + " is of the wrong type"
		} else if why := tooLong(key, value); why != "" {
			bad = "_meta: " + why
		}
		return bad == ""
	})
	switch {
	case bad == "" && !whole:
		bad = `"_meta" must be an object`
	case bad == "" && m.ProtocolVersion >= perRequest && m.ClientCapabilities == nil:
		bad = "_meta: " + strconv.Quote(keyClientCapabilities) + " is missing"
	}
	if bad != "" {
		return Meta{}, invalidParams(nil, bad)
	}
	return m, nil
}

// Limits in bytes on a client's description of itself, which is kept for a session or a call.
const (
	maxClientInfo   = 64 << 10 // it can contain icons
	maxCapabilities = 16 << 10
)

// tooLong returns why a member of a client's description of itself is refused, or an empty string.
// Other members are not limited.
func tooLong(key, value []byte) string {
	most := len(value)
	switch string(key) {
	case keyClientInfo, "clientInfo":
		most = maxClientInfo
	case keyClientCapabilities, "capabilities":
		most = maxCapabilities
	}
	if len(value) <= most {
		return ""
	}
	return strconv.QuoteToASCII(string(key)) + " is longer than " + strconv.Itoa(most) + " bytes"
}

// CheckHandshake returns why an initialize request is refused, or nil.
func CheckHandshake(m Message) *Fault {
	bad := ""
	rawjson.Members(m.Params, func(key, value []byte, _ int) bool {
		bad = tooLong(key, value)
		return bad == ""
	})
	if bad != "" {
		return invalidParams(m.ID, bad)
	}
	return nil
}

// take stores one member and reports whether its type is right.
func (m *Meta) take(key, value []byte) (ok bool) {
	switch string(key) {
	case keyProgressToken:
		m.ProgressToken = value
		return validID(value)
	case keyProtocolVersion:
		m.ProtocolVersion, ok = rawjson.String(value)
		return ok
	case keyClientInfo:
		m.ClientInfo = value
		return value[0] == '{'
	case keyClientCapabilities:
		m.ClientCapabilities = value
		return value[0] == '{'
	case keyLogLevel:
		m.LogLevel, ok = rawjson.String(value)
		return ok
	}
	return true
}

// ofHop reports whether a member of _meta concerns only one hop, so that it is not forwarded. This
// includes the members with the proxy's own prefix.
func ofHop(key []byte) bool {
	switch string(key) {
	case keyProtocolVersion, keyClientInfo, keyClientCapabilities, keyLogLevel, keyServerInfo, keySubscriptionID:
		return true
	}
	return isOwn(key) // only the proxy itself writes such members to an upstream
}

// WithSubscription returns the params of a notification for the subscription with that id, a JSON
// value, or for no subscription if id is empty. The upstream's own subscription id is removed.
func WithSubscription(params []byte, id string) []byte {
	meta, had := rawjson.Member(params, "_meta")
	if had {
		meta = AppendWithout(nil, meta, keySubscriptionID)
	}
	if id != "" {
		meta = SetMember(meta, keySubscriptionID, []byte(id))
	} else if !had {
		return params
	}
	return SetMember(params, "_meta", meta)
}
