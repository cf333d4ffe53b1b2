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

// AnswerTo reports whether m is the answer to the request with that id.
func AnswerTo(m wire.Message, id int64) bool {
	n, ours := m.Int()
	return m.Kind == wire.Response && ours && n == id
}

// spoiltAnswer is the id of a request of ours that data, which is no message,
// seems to answer. There will be no other answer.
func spoiltAnswer(data []byte) (id int64, ok bool) {
	if _, isRequest := rawjson.Member(data, "method"); isRequest {
		return 0, false
	}
	literal, _ := rawjson.Member(data, "id")
	id, err := strconv.ParseInt(string(literal), 10, 64)
	return id, err == nil
}

// Spoils reports whether data is such an answer to the request with that id.
func Spoils(data []byte, id int64) bool {
	n, ok := spoiltAnswer(data)
	return ok && n == id
}

// ReplyOf makes a reply of a response, whose bytes are copied unless they are
// kept. The bytes stay as they are, so they have to be text.
func ReplyOf(m wire.Message, kept bool) Reply {
	if !utf8.Valid(m.Result) || !utf8.Valid(m.Error) {
		return Reply{Err: &Lost{Sent: true, Cause: ErrMalformed}}
	}
	if kept {
		return Reply{Result: m.Result, Error: m.Error}
	}
	return Reply{Result: bytes.Clone(m.Result), Error: bytes.Clone(m.Error)}
}

// PlainMethod reports whether method can stand in a header as it is.
func PlainMethod(method string) bool {
	for _, c := range []byte(method) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return method != ""
}

// AppendAnswer appends our answer to a request of the server: ping lives,
// and nothing else is offered.
func AppendAnswer(b []byte, m wire.Message) []byte {
	if m.Method == "ping" {
		return wire.AppendResult(b, m.ID, []byte(`{}`))
	}
	return wire.AppendError(b, m.ID, wire.CodeMethodNotFound, "Method not found", nil)
}

// AppendCancelled appends the params of a cancellation.
func AppendCancelled(b []byte, id int64, reason string) []byte {
	b = append(b, `{"requestId":`...)
	b = strconv.AppendInt(b, id, 10)
	if reason != "" {
		b = rawjson.AppendString(append(b, `,"reason":`...), reason)
	}
	return append(b, '}')
}
