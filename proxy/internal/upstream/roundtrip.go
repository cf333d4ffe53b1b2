package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var (
	errNoAnswer  = errors.New("the server accepted the request and sent no answer")
	errStreamEnd = errors.New("the server ended the stream without an answer")
	errCancelled = errors.New("the request was cancelled")
)

// roundTrip sends the request of x and waits for its reply. Only a request
// that a server turned away because it does not know the session any more is
// sent again, in a new session.
func (c *httpConn) roundTrip(x *Exchange) Reply {
	if x.req.session != nil { // of a handshake
		reply, _ := c.once(x, x.req.session)
		return reply
	}
	s := c.current.Load()
	if s == nil {
		return Reply{Err: notSent(errClosed)}
	}
	reply, unknownSession := c.once(x, s)
	if !unknownSession {
		return reply
	}
	if err := c.renew(x.ctx, s); err != nil {
		return Reply{Err: notSent(fmt.Errorf("opening a new session: %w", err))}
	}
	reply, _ = c.once(x, c.current.Load())
	return reply
}

// once sends x in session s. unknownSession says that the server refused it
// because of the session, with status 404, and so did not execute it.
func (c *httpConn) once(x *Exchange, s *session) (reply Reply, unknownSession bool) {
	var sent atomic.Bool // there was a connection to write to
	ctx := httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	response, err := c.post(ctx, s, &x.req, &x.body)
	if err != nil {
		return Reply{Err: c.lost(x, err, sent.Load())}, false
	}
	if x.req.session != nil && x.req.Method == "initialize" && response.StatusCode/100 == 2 {
		s.id = response.Header.Get(sessionHeader)
	}
	if response.StatusCode/100 == 2 && response.StatusCode != http.StatusAccepted && mediaType(response.Header) == "text/event-stream" {
		return c.readStream(x, s, newEventReader(response.Body, c.host.config.MaxMessage), response.Body), false
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound && s.id != "" && !s.modern():
		return Reply{Err: c.statusError(response)}, true
	case response.StatusCode/100 != 2:
		return c.refused(x, s, response), false
	case response.StatusCode == http.StatusAccepted || response.StatusCode == http.StatusNoContent:
		return Reply{Err: &Lost{Sent: true, Cause: errNoAnswer}}, false
	}
	if t := mediaType(response.Header); t != "application/json" {
		err := fmt.Errorf("the server answered with content type %q", text.Excerpt(t, 100))
		return Reply{Err: &Lost{Sent: true, Cause: err}}, false
	}
	return c.readJSON(x, response), false
}

// lost says what an error of the transport means for the request. A server
// that cannot be reached is lost as a whole.
func (c *httpConn) lost(x *Exchange, err error, sent bool) error {
	if errors.As(err, new(*Unauthorized)) {
		return notSent(err)
	}
	err = c.transportError(err)
	if x.ctx.Err() != nil || errors.Is(err, errBodyGone) {
		err = errCancelled
		if c.ctx.Err() != nil {
			err = errClosed
		}
	} else if !sent {
		c.fail(err)
	}
	if !sent {
		return notSent(err)
	}
	return &Lost{Sent: true, Cause: err}
}

// transportError is err without the address, which may contain a secret.
func (c *httpConn) transportError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if text := err.Error(); c.redact(text) != text {
		return errors.New(c.redact(text))
	}
	return err
}

// readJSON reads an answer that is one message.
func (c *httpConn) readJSON(x *Exchange, response *http.Response) Reply {
	data, err := c.readAll(response)
	if err != nil {
		return Reply{Err: c.interrupted(x, err)}
	}
	m, err := wire.ParseUpstream(data)
	if err != nil || !answerTo(m, x.id) {
		return Reply{Err: &Lost{Sent: true, Cause: errMalformed}}
	}
	return replyOf(m, true)
}

// maxTrusted is the length that is taken from a header without having seen
// the bytes.
const maxTrusted = 4 << 20

func (c *httpConn) readAll(response *http.Response) ([]byte, error) {
	limit := int64(c.host.config.MaxMessage)
	if n := response.ContentLength; n >= 0 && n <= min(limit, maxTrusted) {
		data := make([]byte, n)
		_, err := io.ReadFull(response.Body, data)
		return data, err
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%w: more than %d bytes", errTooLong, limit)
	}
	return data, err
}

// interrupted says what the end of a body in the middle means.
func (c *httpConn) interrupted(x *Exchange, err error) error {
	switch {
	case c.ctx.Err() != nil:
		err = errClosed
	case x.ctx.Err() != nil:
		err = errCancelled
	default:
		err = c.transportError(err)
	}
	return &Lost{Sent: true, Cause: err}
}

// refused reads an answer with a status that is not success: a JSON-RPC error
// if the server sent one.
func (c *httpConn) refused(x *Exchange, s *session, response *http.Response) Reply {
	limit := excerptLimit
	if mediaType(response.Header) == "application/json" { // the error is the client's to know, whatever its length
		limit = c.host.config.MaxMessage
	}
	data, _ := io.ReadAll(io.LimitReader(response.Body, int64(limit)))
	refusal, ok := refusalIn(data, x.id)
	if !ok {
		return Reply{Err: c.status(response, data)}
	}
	if response.StatusCode == http.StatusBadRequest && s.id != "" && mentionsSession(refusal) {
		c.fail(errors.New("the server does not know the session any more"))
	}
	return Reply{Error: refusal}
}

// refusalIn is the JSON-RPC error in the body of a refusal. Its id is that of
// the request, or null or missing where the server did not read so far.
func refusalIn(data []byte, id int64) ([]byte, bool) {
	oneLine(data, '\t')
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, false
	}
	got, ok := rawjson.Member(data, "id")
	if ok && string(got) != "null" && string(got) != strconv.FormatInt(id, 10) {
		return nil, false
	}
	refusal, ok := rawjson.Member(data, "error")
	refusal = wire.UpstreamError(refusal)
	return refusal, ok && rawjson.Kind(refusal) == '{'
}

// mentionsSession reports whether a refusal seems to be about the session:
// some servers answer 400 instead of 404. The request is not sent again.
func mentionsSession(e []byte) bool {
	text, _ := rawjson.Member(e, "message")
	return strings.Contains(strings.ToLower(string(text)), "session")
}

func (c *httpConn) statusError(response *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(response.Body, excerptLimit))
	return c.status(response, data)
}

func (c *httpConn) status(response *http.Response, data []byte) error {
	if response.StatusCode/100 == 3 {
		return &StatusError{Code: response.StatusCode, Excerpt: errRedirect.Error()}
	}
	return &StatusError{Code: response.StatusCode, Excerpt: text.Excerpt(c.redact(string(data)), 200)}
}

// redact takes the values of our headers out of a text: a server may say back
// what it was told.
func (c *httpConn) redact(text string) string {
	text = c.unspoken(text)
	for _, value := range c.host.config.Headers {
		for _, secret := range append(strings.Fields(value), value) {
			if len(secret) > 5 && !strings.EqualFold(secret, "bearer") {
				text = strings.ReplaceAll(text, secret, "[redacted]")
			}
		}
	}
	return text
}

// renew shakes hands anew after the server forgot session old. Of many that
// find out at once, one does it.
func (c *httpConn) renew(ctx context.Context, old *session) error {
	c.renewing.Lock()
	defer c.renewing.Unlock()
	if c.current.Load() != old {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.host.options.ConnectTimeout)
	defer cancel()
	s, err := c.host.renew(ctx, c, old.version)
	if err != nil {
		if ctx.Err() == nil {
			c.fail(fmt.Errorf("opening a new session: %w", err))
		}
		return err
	}
	c.current.Store(s)
	select {
	case c.renewed <- struct{}{}:
	default: // it has not noticed the last one
	}
	c.host.renewed() // its tools may be others
	return nil
}
