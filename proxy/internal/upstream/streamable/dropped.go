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

// errUnknownSession is the end of a request that the server turned away because it does
// not know the session any more.
var errUnknownSession = errors.New("the server does not know the session any more")

// codeUnknownSession is the JSON-RPC error code by which the SDKs of MCP say that a session
// is not known. They use it for other errors as well.
const codeUnknownSession = "-32001"

// unknownSession matches a message that says so of a session of MCP. It begins with that: a
// tool may have sessions of its own, and say of them "browser session not found".
var unknownSession = regexp.MustCompile(`(?i)^\W*(?:(?:error|bad request|not found|invalid request)[:. ]+)?(?:` +
	`(?:no|invalid|unknown|expired|stale|missing|invalid or expired)(?: valid| active| such)?(?: mcp)?[ -]session\b` +
	`|(?:the |your )?(?:mcp[ -])?session(?:[ -]?id)?(?:[ :]+\S+)? (?:is |was |has |has been |does |do )?` +
	`(?:not (?:found|known|valid|exist|initialized|recognized)|no longer|unknown|invalid|expired|terminated|closed|gone)\b` +
	`|(?:the )?server (?:is )?not initialized\b)`)

// mayRenew reports whether a session that the server does not know any more can be the
// reason for a refusal of x.
func mayRenew(x *conn.Exchange, s *conn.Session) bool {
	return x.Req.Session == nil && s.ID != "" && s.Rev() == rev.Rev2025
}

// droppedByStatus reports whether a refusal with an HTTP status says that the session is not
// known, and x is to be sent once more: 404 as the specification has it, 410, or 400 with a
// text that says so. None of them has executed the request.
func droppedByStatus(x *conn.Exchange, s *conn.Session, status int, body []byte) bool {
	if x.Renewed || !mayRenew(x, s) {
		return false
	}
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusBadRequest:
		return unknownSession.Match(said(body))
	}
	return false
}

// dropped reports whether the JSON-RPC error of an answer says that the session is not known,
// and x is to be sent once more. Where a new session does not help, the server speaks of
// sessions of its own, and is believed no more.
func (c *Conn) dropped(x *conn.Exchange, s *conn.Session, refusal []byte) bool {
	if len(refusal) == 0 || !mayRenew(x, s) {
		return false
	}
	code, _ := rawjson.Member(refusal, "code")
	if string(code) != codeUnknownSession || !unknownSession.Match(said(refusal)) {
		return false
	}
	if x.Renewed {
		c.otherSessions.Store(true)
	}
	return !c.otherSessions.Load()
}

// said returns the message of a JSON-RPC error, of an answer with one, or of an object such
// as web frameworks answer with; else the text itself.
func said(body []byte) []byte {
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
