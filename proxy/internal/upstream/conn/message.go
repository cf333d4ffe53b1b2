package conn

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const MethodCancelled = "notifications/cancelled"

var ErrMalformed = errors.New("the server's answer is malformed")

// AnswerTo reports whether m answers the request with that id.
func AnswerTo(m wire.Message, id int64) bool {
	n, ours := m.Int()
	return m.Kind == wire.Response && ours && n == id
}

// invalidAnswerTo returns the id of the request that data, which is not a valid message, seems to
// answer. No other answer will come.
func invalidAnswerTo(data []byte) (id int64, ok bool) {
	if _, isRequest := rawjson.Member(data, "method"); isRequest {
		return 0, false
	}
	literal, _ := rawjson.Member(data, "id")
	id, err := strconv.ParseInt(string(literal), 10, 64)
	return id, err == nil
}

// IsInvalidAnswer reports whether data seems to be such an invalid answer to the request with that
// id.
func IsInvalidAnswer(data []byte, id int64) bool {
	n, ok := invalidAnswerTo(data)
	return ok && n == id
}

// ReplyOf returns the reply of a response, and copies its bytes unless kept is true. The bytes are
// forwarded unchanged, so they must be valid UTF-8.
func ReplyOf(m wire.Message, kept bool) Reply {
	if !utf8.Valid(m.Result) || !utf8.Valid(m.Error) {
		return Reply{Err: &Lost{Sent: true, Cause: ErrMalformed}}
	}
	if kept {
		return Reply{Result: m.Result, Error: m.Error}
	}
	return Reply{Result: bytes.Clone(m.Result), Error: bytes.Clone(m.Error)}
}

// PlainMethod reports whether method can be written into an HTTP header without encoding.
func PlainMethod(method string) bool {
	for _, c := range []byte(method) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return method != ""
}

// AppendAnswer appends the proxy's own answer to a server's request: a result for ping, and "method
// not found" for others.
func AppendAnswer(b []byte, m wire.Message) []byte {
	if m.Method == "ping" {
		return wire.AppendResult(b, m.ID, []byte(`{}`))
	}
	return wire.AppendError(b, m.ID, wire.CodeMethodNotFound, "Method not found", nil)
}

// AppendCancelled appends the params of notifications/cancelled.
func AppendCancelled(b []byte, id int64, reason string) []byte {
	b = append(b, `{"requestId":`...)
	b = strconv.AppendInt(b, id, 10)
	if reason != "" {
		b = rawjson.AppendString(append(b, `,"reason":`...), reason)
	}
	return append(b, '}')
}
