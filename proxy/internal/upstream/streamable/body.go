package streamable

import (
	"context"
	"io"
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// largeBody is the minimum size of a body that is dropped when its request is cancelled.
const largeBody = 64 << 10

// request returns an HTTP request with the body. The transport knows that it can write a
// [bytes.Reader] together with the headers, and again if the connection proves to be closed; for a
// large body that does not matter.
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

// A bodyReader reads a body that can be dropped meanwhile.
type bodyReader struct {
	body *conn.Body
	at   int
}

// Read reads the rest of the body, or returns an error if the body was dropped.
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

// Close does nothing: the body can be read again.
func (r *bodyReader) Close() error { return nil }
