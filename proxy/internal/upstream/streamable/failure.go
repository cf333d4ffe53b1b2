package streamable

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

var (
	errNoAnswer  = errors.New("the server accepted the request but sent no answer")
	errStreamEnd = errors.New("the server ended the stream without an answer")
	ErrCancelled = errors.New("the request was cancelled")
)

// lost converts a transport error to an error about the request. If the server cannot be reached,
// it also ends the connection.
func (c *Conn) lost(x *conn.Exchange, err error, sent bool) error {
	switch {
	case errors.As(err, new(*Unauthorized)):
		return conn.NotSent(err)
	case errors.Is(err, conn.ErrNotSent): // this was the second attempt to send a refused request
		return err
	}
	err = c.TransportError(err)
	if x.Ctx.Err() != nil || errors.Is(err, conn.ErrBodyGone) {
		err = ErrCancelled
		if c.ctx.Err() != nil {
			err = process.ErrClosed
		}
	} else if !sent {
		c.Fail(err)
	}
	if !sent {
		return conn.NotSent(err)
	}
	return &conn.Lost{Sent: true, Cause: err}
}

// TransportError returns err without the URL, because the URL may contain a secret.
func (c *Conn) TransportError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if text := err.Error(); c.redact(text) != text {
		return errors.New(c.redact(text))
	}
	return err
}

// interrupted returns the error for a response body that ended too early.
func (c *Conn) interrupted(x *conn.Exchange, err error) error {
	switch {
	case c.ctx.Err() != nil:
		err = process.ErrClosed
	case x.Ctx.Err() != nil:
		err = ErrCancelled
	default:
		err = c.TransportError(err)
	}
	return &conn.Lost{Sent: true, Cause: err}
}

func (c *Conn) StatusError(response *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(response.Body, ExcerptLimit))
	return c.status(response, data)
}

func (c *Conn) status(response *http.Response, data []byte) error {
	if response.StatusCode/100 == 3 {
		return c.redirected(response)
	}
	return &conn.StatusError{Code: response.StatusCode, Excerpt: text.Excerpt(c.redact(string(data)), 200)}
}
