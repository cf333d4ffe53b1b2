package streamable

import (
	"context"
	"io"
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// largeBody is the minimum size of a body that is dropped when the request is canceled.
const largeBody = 64 << 10

// request returns an HTTP request with the given body. If the body is a [bytes.Reader], the HTTP
// transport can write it together with the headers, and can write it again if the connection turns
// out to be closed; for a large body, this does not matter.
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

// A bodyReader reads a body that may be dropped while it is being read.
type bodyReader struct {
	body *conn.Body
	at   int
}

// Read reads the next bytes of the body. If the body was dropped, it returns an error.
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
