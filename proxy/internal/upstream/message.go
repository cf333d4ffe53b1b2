package upstream

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const methodCancelled = "notifications/cancelled"

var errMalformed = errors.New("the server's answer is malformed")

// answerTo reports whether m is the answer to the request with that id.
func answerTo(m wire.Message, id int64) bool {
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

// spoils reports whether data is such an answer to the request with that id.
func spoils(data []byte, id int64) bool {
	n, ok := spoiltAnswer(data)
	return ok && n == id
}

// replyOf makes a reply of a response, whose bytes are copied unless they are
// kept. The bytes stay as they are, so they have to be text.
func replyOf(m wire.Message, kept bool) Reply {
	if !utf8.Valid(m.Result) || !utf8.Valid(m.Error) {
		return Reply{Err: &Lost{Sent: true, Cause: errMalformed}}
	}
	if kept {
		return Reply{Result: m.Result, Error: m.Error}
	}
	return Reply{Result: bytes.Clone(m.Result), Error: bytes.Clone(m.Error)}
}

// plainMethod reports whether method can stand in a header as it is.
func plainMethod(method string) bool {
	for _, c := range []byte(method) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return method != ""
}

// oneLine puts another white space in the place of line breaks. In JSON they are
// white space between tokens and nothing else, but where a line is a message
// they would end it. In a string of a message that was not checked a tab is as
// wrong as they are; a space would make it right, and another text.
func oneLine(b []byte, space byte) {
	for _, c := range []byte{'\n', '\r'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				break
			}
			rest[i] = space
			rest = rest[i+1:]
		}
	}
}

// appendAnswer appends our answer to a request of the server: ping lives,
// and nothing else is offered.
func appendAnswer(b []byte, m wire.Message) []byte {
	if m.Method == "ping" {
		return wire.AppendResult(b, m.ID, []byte(`{}`))
	}
	return wire.AppendError(b, m.ID, wire.CodeMethodNotFound, "Method not found", nil)
}

// appendCancelled appends the params of a cancellation.
func appendCancelled(b []byte, id int64, reason string) []byte {
	b = append(b, `{"requestId":`...)
	b = strconv.AppendInt(b, id, 10)
	if reason != "" {
		b = rawjson.AppendString(append(b, `,"reason":`...), reason)
	}
	return append(b, '}')
}
