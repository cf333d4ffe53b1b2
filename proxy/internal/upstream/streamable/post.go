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

// Get requests the events of a stream after the event with the given ID. If lastID is empty, it
// requests a new stream.
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

// push sends a message that has no response.
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

// Notify sends a notification in the session s or, if s is nil, in the current session.
func (c *Conn) Notify(ctx context.Context, s *conn.Session, method string, params []byte) error {
	if s == nil {
		s = c.Current.Load()
	}
	return c.push(ctx, s, method, wire.AppendNotification(nil, method, params))
}

// reply sends the proxy's response to a server's request.
func (c *Conn) reply(s *conn.Session, answer []byte) {
	c.Host.Work.Go(func() {
		if err := c.push(c.ctx, s, "", answer); err != nil {
			c.Host.Log.Warn("answering a request from the server", "error", err)
		}
	})
}

// refuse responds to a server's request that the proxy does not forward.
func (c *Conn) refuse(s *conn.Session, m wire.Message) {
	select {
	case c.answers <- struct{}{}:
	default: // drop the request, because the server sends requests faster than it reads responses
		return
	}
	data := conn.OwnAnswer(m)
	c.Host.Work.Go(func() {
		defer func() { <-c.answers }()
		_ = c.push(c.ctx, s, "", data)
	})
}

// FollowGet requests a stream. Like a handshake, it follows redirects.
func (c *Conn) FollowGet(ctx context.Context) (response *http.Response, err error) {
	for range maxRedirects + 1 {
		response, err = c.Get(ctx, new(conn.Session), "")
		if err != nil || !c.followRedirect(c.redirectError(response)) {
			return response, err
		}
		_ = response.Body.Close()
	}
	return response, err
}

// largeBody is the minimum size, in bytes, of a request body that can be freed as soon as its
// request is canceled.
const largeBody = 64 << 10

// request returns an HTTP request with the given body. For a small body, it uses a [bytes.Reader].
// The HTTP transport can then write the body together with the headers, and can write it again if
// it turns out that the connection was closed. For a large body, request uses a [bodyReader].
func (c *Conn) request(ctx context.Context, b *conn.Body, s *conn.Session) (*http.Request, error) {
	data, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	if len(data) < largeBody {
		return c.NewRequest(ctx, http.MethodPost, s, data)
	}
	r, err := c.NewRequest(ctx, http.MethodPost, s, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = int64(len(data))
	r.GetBody = func() (io.ReadCloser, error) { return &bodyReader{body: b}, nil }
	r.Body = &bodyReader{body: b}
	return r, nil
}

// A bodyReader reads a request body that can be freed before it has been read completely.
type bodyReader struct {
	body *conn.Body
	at   int
}

// Read reads the next bytes of the body. It returns an error if the body has been freed.
func (r *bodyReader) Read(p []byte) (int, error) {
	data, err := r.body.Bytes()
	switch {
	case err != nil:
		return 0, err
	case r.at >= len(data):
		return 0, io.EOF
	}
	n := copy(p, data[r.at:])
	r.at += n
	return n, nil
}

// Close does nothing, because the body may be read again.
func (r *bodyReader) Close() error { return nil }

// An Unauthorized error means that a request was not sent, or was refused, because credentials were
// missing or not accepted. In either case, it was not executed.
type Unauthorized struct{ Cause error }

func (e *Unauthorized) Error() string { return e.Cause.Error() }
func (e *Unauthorized) Unwrap() error { return e.Cause }

const authorizationHeader = "Authorization"

// maxCredentialRetries is the maximum number of times that a request is sent again with other
// credentials: once because the credentials were not accepted, and once because they were
// insufficient. A server that refuses a request with 401 or 403 has not executed it.
const maxCredentialRetries = 2

// Do sends a request with the server's credentials, if any are configured. Before it sends a
// refused request again, Do calls checkResend, unless checkResend is nil. If checkResend returns an
// error, the request is not sent again.
func (c *Conn) Do(request *http.Request, checkResend func() error) (*http.Response, error) {
	credentials := c.Host.Config.Credentials
	if credentials == nil {
		return c.Host.Client.Do(request)
	}
	value, err := credentials.Authorization(request.Context())
	for retries := 0; ; retries++ {
		if err != nil {
			return nil, &Unauthorized{err}
		}
		if value != "" {
			request.Header.Set(authorizationHeader, value)
			c.authorized.Store(&value)
		}
		response, failure := c.Host.Client.Do(request)
		if failure != nil || !isUnauthorized(response) || retries == maxCredentialRetries {
			return response, failure
		}
		next, failure := credentials.Renew(request.Context(), value, response)
		if next == "" && failure == nil {
			return response, nil
		}
		_, _ = io.CopyN(io.Discard, response.Body, ExcerptLimit) // discard the rest of the body, so that the connection can be reused
		_ = response.Body.Close()
		if value, err = next, failure; err == nil && checkResend != nil {
			if failure = checkResend(); failure != nil {
				return nil, conn.NotSent(failure)
			}
		}
		if request, failure = withBodyAgain(request); failure != nil {
			return nil, failure
		}
	}
}

func isUnauthorized(response *http.Response) bool {
	return response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden
}

// withBodyAgain returns a copy of the request with a new reader for the body, so that the request
// can be sent again.
func withBodyAgain(request *http.Request) (*http.Request, error) {
	next := request.Clone(request.Context())
	if request.GetBody == nil {
		return next, nil
	}
	var err error
	next.Body, err = request.GetBody()
	return next, err
}
