package streamable

import (
	"context"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

func (c *Conn) post(ctx context.Context, s *conn.Session, r *conn.Request, b *conn.Body) (*http.Response, error) {
	request, err := c.request(ctx, b, s)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json, text/event-stream")
	if s.Rev() == rev.Rev2026 {
		request.Header.Set(mcp.HeaderMethod, r.Method)
		if name, ok := mcp.EncodeHeaderValue(r.Name); ok && r.Name != "" {
			request.Header.Set(mcp.HeaderName, name)
		}
		for name, value := range r.Headers {
			request.Header.Set(name, value)
		}
	}
	return c.Do(request, r.Again)
}

// Get requests a stream that starts after the event with the given ID.
func (c *Conn) Get(ctx context.Context, s *conn.Session, lastID string) (*http.Response, error) {
	request, err := c.NewRequest(ctx, http.MethodGet, s, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	return c.Do(request, nil)
}

// push sends a message that gets no answer.
func (c *Conn) push(ctx context.Context, s *conn.Session, method string, data []byte) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, NotifyTimeout)
		defer cancel()
	}
	body := new(conn.Body)
	body.Fill(data)
	response, err := c.post(ctx, s, &conn.Request{Method: method}, body)
	if err != nil {
		return c.TransportError(err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return c.StatusError(response)
	}
	_, _ = io.CopyN(io.Discard, response.Body, ExcerptLimit)
	return nil
}

// Notify sends a notification in the session s. If s is nil, it uses the current session.
func (c *Conn) Notify(ctx context.Context, s *conn.Session, method string, params []byte) error {
	if s == nil {
		s = c.Current.Load()
	}
	return c.push(ctx, s, method, wire.AppendNotification(nil, method, params))
}

// reply sends the proxy's answer to a request from the server.
func (c *Conn) reply(s *conn.Session, answer []byte) {
	c.Host.Work.Go(func() {
		if err := c.push(c.ctx, s, "", answer); err != nil {
			c.Host.Log.Warn("answering a request from the server", "error", err)
		}
	})
}

// refuse answers a request from the server that is not forwarded.
func (c *Conn) refuse(s *conn.Session, m wire.Message) {
	select {
	case c.answers <- struct{}{}:
	default: // the server sends requests faster than it reads answers
		return
	}
	data := conn.AppendAnswer(nil, m)
	c.Host.Work.Go(func() {
		defer func() { <-c.answers }()
		_ = c.push(c.ctx, s, "", data)
	})
}

// FollowGet requests a stream. It follows redirects in the same way as a handshake does.
func (c *Conn) FollowGet(ctx context.Context) (response *http.Response, err error) {
	for range maxRedirects + 1 {
		response, err = c.Get(ctx, new(conn.Session), "")
		if err != nil || !c.followRedirect(c.redirected(response)) {
			return response, err
		}
		_ = response.Body.Close()
	}
	return response, err
}
