package wire

import (
	"bytes"
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// perRequestRevision is the first revision that requires clients to describe themselves in the
// _meta of each request.
const perRequestRevision = "2026-07-28"

// Meta holds the members of a request's _meta that apply only between the client and the proxy.
type Meta struct {
	ProgressToken      []byte // a string or an integer; nil if absent
	ProtocolVersion    string
	ClientInfo         []byte // object; nil if absent
	ClientCapabilities []byte // object; nil if absent
	LogLevel           string
}

// Clone returns a deep copy of m, for callers that need m longer than the message.
func (m Meta) Clone() Meta {
	m.ProgressToken, m.ClientInfo, m.ClientCapabilities = bytes.Clone(m.ProgressToken), bytes.Clone(m.ClientInfo), bytes.Clone(m.ClientCapabilities)
	return m
}

// ParseMeta parses the _meta of a message returned by [Parse]. The message may have any method. The
// caller must set the ID of the fault.
func ParseMeta(message Message) (Meta, *Fault) {
	var m Meta
	var meta []byte
	for _, f := range message.index.fields[:message.index.n] {
		if f.name == fieldMeta {
			meta = message.Params[f.at:f.end:f.end]
		}
	}
	bad := ""
	rawjson.Members(meta, func(key, value []byte, _ int) bool {
		if !m.take(key, value) {
			bad = "_meta: " + strconv.QuoteToASCII(string(key)) + " is of the wrong type"
		} else if why := tooLong(key, value); why != "" {
			bad = "_meta: " + why
		}
		return bad == ""
	})
	if bad == "" && m.ProtocolVersion >= perRequestRevision && m.ClientCapabilities == nil {
		bad = "_meta: " + strconv.Quote(keyClientCapabilities) + " is missing"
	}
	if bad != "" {
		return Meta{}, invalidParams(nil, bad)
	}
	return m, nil
}

// Maximum sizes, in bytes, of what a client says about itself. The proxy keeps this data as long as
// the session or the call lasts.
const (
	maxClientInfo   = 64 << 10 // size of clientInfo, which may contain icons
	maxCapabilities = 16 << 10
)

// tooLong returns an error message if the member describes the client and is too long, and ""
// otherwise.
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

// CheckHandshake returns the reason an initialize request must be refused, or nil if the request is
// acceptable.
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

// take stores a member of _meta in m. It returns false if the member has the wrong type.
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

// isHopMember reports whether a _meta member applies only between two peers and must not be
// forwarded. All members with the proxy's own prefix are of this kind.
func isHopMember(key []byte) bool {
	switch string(key) {
	case keyProtocolVersion, keyClientInfo, keyClientCapabilities, keyLogLevel, keyServerInfo, keySubscriptionID:
		return true
	}
	return isOwn(key) // upstreams get members with this prefix only from the proxy itself
}

// ProgressToken returns the token in the params of an upstream's progress notification. The proxy
// sends only integers, so ok is false for any other token.
func ProgressToken(params []byte) (token int64, ok bool) {
	value, _ := rawjson.Member(params, "progressToken")
	token, err := strconv.ParseInt(string(value), 10, 64)
	return token, err == nil
}

// WithSubscription replaces the subscription ID in the params of a notification and returns the new
// params. The new ID must be a JSON value. If it is empty, the old ID is removed.
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
