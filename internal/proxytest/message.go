package proxytest

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// A Message is a received message, both as raw bytes and parsed.
type Message struct {
	Raw                   []byte
	ID, Method            string
	Params, Result, Error json.RawMessage
	Status                int
	Session               string
}

// ParseMessage parses a message. If a member is invalid or missing, the corresponding field is
// empty.
func ParseMessage(raw []byte, status int) Message {
	if len(raw) > large {
		return parseLarge(raw, status)
	}
	var m struct {
		ID                    json.RawMessage
		Method                string
		Params, Result, Error json.RawMessage
	}
	_ = json.Unmarshal(raw, &m)
	return Message{Raw: raw, ID: string(m.ID), Method: m.Method, Params: m.Params, Result: m.Result, Error: m.Error, Status: status}
}

// large is the maximum size in bytes of a message that ParseMessage parses as a whole. Under the
// race detector, parsing a larger message would take seconds.
const large = 1 << 20

// parseLarge parses a message but not its params, result or error, which must be the last member.
func parseLarge(raw []byte, status int) Message {
	m := Message{Raw: raw, Status: status}
	contents := map[string]*json.RawMessage{"params": &m.Params, "result": &m.Result, "error": &m.Error}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // skip the opening brace
	for d.More() {
		key, _ := d.Token()
		name, _ := key.(string)
		if content := contents[name]; content != nil {
			*content = bytes.TrimPrefix(raw[d.InputOffset():len(raw)-1], []byte(":"))
			return m
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return m
		}
		switch name {
		case "id":
			m.ID = string(value)
		case "method":
			_ = json.Unmarshal(value, &m.Method)
		}
	}
	return m
}

// IsError reports whether the result of a call is an error.
func (m Message) IsError() bool { return Member(m.Result, "isError") == "true" }

// Code returns the JSON-RPC error code, or "" if the message is not an error response.
func (m Message) Code() string { return Member(m.Error, "code") }

// JSON-RPC error codes.
const (
	CodeParse   = "-32700"
	CodeRequest = "-32600"
	CodeParams  = "-32602"
	CodeHeaders = "-32020"
)

// Decision returns a member, such as "kind", of the proxy's decision on the call. The proxy stores
// the decision in the result's _meta.
func (m Message) Decision(key string) string {
	s, _ := strconv.Unquote(Member(m.Result, "_meta", "io.petrigate/decision", key))
	return s
}

// Text returns the text of the result's first content block.
func (m Message) Text() string {
	var r struct{ Content []struct{ Text string } }
	if json.Unmarshal(m.Result, &r) != nil || len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// ToolsByName returns the listed tools as JSON, unchanged and keyed by name.
func (m Message) ToolsByName() map[string]string {
	var r struct{ Tools []json.RawMessage }
	_ = json.Unmarshal(m.Result, &r)
	found := map[string]string{}
	for _, raw := range r.Tools {
		var t struct{ Name string }
		_ = json.Unmarshal(raw, &t)
		found[t.Name] = string(raw)
	}
	return found
}

// Member returns the member of doc at the given path as JSON, or "" if doc has no such member.
func Member(doc []byte, path ...string) string {
	for _, key := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(doc, &members) != nil {
			return ""
		}
		doc = members[key]
	}
	return string(doc)
}

// Clip shortens b for use in failure reports.
func Clip(b []byte) string { return string(b[:min(len(b), 300)]) }
