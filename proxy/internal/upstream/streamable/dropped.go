package streamable

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// errUnknownSession means that the server has refused a request because it no longer knows the
// session.
var errUnknownSession = errors.New("the server no longer knows the session")

// codeUnknownSession is the JSON-RPC error code that MCP SDKs use for an unknown session. They also
// use it for other errors.
const codeUnknownSession = "-32001"

// unknownSession matches an error message about an unknown MCP session. It matches only at the
// beginning of the message, because a tool may have sessions of its own and report, for example,
// "browser session not found".
var unknownSession = regexp.MustCompile(`(?i)^\W*(?:(?:error|bad request|not found|invalid request)[:. ]+)?(?:` +
	`(?:no|invalid|unknown|expired|stale|missing|invalid or expired)(?: valid| active| such)?(?: mcp)?[ -]session\b` +
	`|(?:the |your )?(?:mcp[ -])?session(?:[ -]?id)?(?:[ :]+\S+)? (?:is |was |has |has been |does |do )?` +
	`(?:not (?:found|known|valid|exist|initialized|recognized)|no longer|unknown|invalid|expired|terminated|closed|gone)\b` +
	`|(?:the )?server (?:is )?not initialized\b)`)

// mayRenew reports whether x may have been refused because the server no longer knows the session.
func mayRenew(x *conn.Exchange, s *conn.Session) bool {
	return x.Req.Session == nil && s.ID != "" && s.Rev() == rev.Rev2025
}

// droppedByStatus reports whether an HTTP status means that the session is unknown, so that x
// should be sent again: the status is 404, as in the specification, or 410, or 400 with a matching
// message. A request with such a response was not executed.
func droppedByStatus(x *conn.Exchange, s *conn.Session, status int, body []byte) bool {
	if x.Renewed || !mayRenew(x, s) {
		return false
	}
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusBadRequest:
		return unknownSession.Match(errorMessage(body))
	}
	return false
}

// dropped reports whether the JSON-RPC error in an answer means that the session is unknown, so
// that x should be sent again. If a new session does not help, the error is about other sessions of
// the server, and later errors of this kind are ignored.
func (c *Conn) dropped(x *conn.Exchange, s *conn.Session, refusal []byte) bool {
	if len(refusal) == 0 || !mayRenew(x, s) {
		return false
	}
	code, _ := rawjson.Member(refusal, "code")
	if string(code) != codeUnknownSession || !unknownSession.Match(errorMessage(refusal)) {
		return false
	}
	if x.Renewed {
		c.otherSessions.Store(true)
	}
	return !c.otherSessions.Load()
}

// errorMessage returns the message of a JSON-RPC error, of a response with such an error, or of a
// web framework's error object. For anything else, it returns body itself.
func errorMessage(body []byte) []byte {
	if inner, ok := rawjson.Member(body, "error"); ok && rawjson.Kind(inner) == '{' {
		body = inner
	}
	for _, member := range [...]string{"message", "error", "detail"} {
		if value, ok := rawjson.Member(body, member); ok && rawjson.Kind(value) == '"' {
			text, _ := rawjson.String(value)
			return []byte(text)
		}
	}
	return bytes.TrimSpace(body)
}
