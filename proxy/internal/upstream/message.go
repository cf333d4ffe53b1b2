package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
)

var (
	errNotObject = errors.New("not a JSON object")
	errEnvelope  = errors.New("not a JSON-RPC message")
)

// message is the envelope of what a server sent; its fields are slices of it.
type message struct {
	id            []byte
	method        string
	params        []byte
	result, error []byte
}

func (m *message) isReply() bool { return m.method == "" }

// number is the id as one of ours. A string is never ours.
func (m *message) number() (int64, bool) {
	n, err := strconv.ParseInt(string(m.id), 10, 64)
	return n, err == nil
}

// parse reads the envelope of data. What is inside the members is only known
// to be balanced.
func parse(data []byte) (message, error) {
	var m message
	seen, twice := 0, false
	whole := rawjson.Members(data, func(key, value []byte, _ int) bool {
		bit := m.take(key, value)
		twice = twice || seen&bit != 0
		seen |= bit
		return !twice
	})
	switch {
	case !whole && !twice:
		return m, errNotObject
	case twice, !m.valid():
		return m, errEnvelope
	}
	return m, nil
}

// take keeps a member of the envelope, and returns a bit that stands for it.
func (m *message) take(key, value []byte) int {
	switch string(key) {
	case "id":
		m.id = value
		return 1
	case "method":
		m.method, _ = rawjson.String(value)
		return 2
	case "params":
		m.params = value
		return 4
	case "result":
		m.result = value
		return 8
	case "error":
		m.error = value
		return 16
	}
	return 0
}

// valid reports whether m is a request, a notification or a reply. A reply
// that has both a result and an error is one that failed.
func (m *message) valid() bool {
	if m.method != "" {
		return m.result == nil && m.error == nil
	}
	if m.error != nil && string(m.error) != "null" {
		m.result = nil
		return m.id != nil
	}
	m.error = nil
	return m.id != nil && m.result != nil
}

// plainMethod reports whether method needs no escaping in JSON or a header.
func plainMethod(method string) bool {
	for _, c := range []byte(method) {
		if c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return method != ""
}

// appendRequest appends a request on one line, without the newline.
func appendRequest(b []byte, id int64, method string, params []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, id, 10)
	return appendMethod(b, method, params)
}

// appendNotification is appendRequest without an id.
func appendNotification(b []byte, method string, params []byte) []byte {
	return appendMethod(append(b, `{"jsonrpc":"2.0"`...), method, params)
}

func appendMethod(b []byte, method string, params []byte) []byte {
	b = append(b, `,"method":"`...)
	b = append(b, method...)
	b = append(b, '"')
	if params != nil {
		b = append(b, `,"params":`...)
		at := len(b)
		b = append(b, params...)
		oneLine(b[at:])
	}
	return append(b, '}')
}

// oneLine turns line breaks into spaces. In JSON they are white space between
// tokens and nothing else, but where a line is a message they would end it.
func oneLine(b []byte) {
	for _, c := range []byte{'\n', '\r'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}

// appendAnswer appends our answer to a request of the server: ping lives,
// and nothing else is offered.
func appendAnswer(b []byte, id []byte, method string) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	if method == "ping" {
		return append(b, `,"result":{}}`...)
	}
	return append(b, `,"error":{"code":-32601,"message":"Method not found"}}`...)
}

// answerable reports whether id is one that a request may have.
func answerable(id []byte) bool {
	k := rawjson.Kind(id)
	return k == '"' || k == '0'
}

func appendCancelled(b []byte, id int64, reason string) []byte {
	b = append(b, `{"requestId":`...)
	b = strconv.AppendInt(b, id, 10)
	if reason != "" {
		quoted, _ := json.Marshal(reason) // a string always can be
		b = append(append(b, `,"reason":`...), quoted...)
	}
	return append(b, '}')
}
