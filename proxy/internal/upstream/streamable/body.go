package streamable

import (
	"context"
	"io"
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// largeBody is the size from which a body is let go once nobody wants its answer.
const largeBody = 64 << 10

// request makes a request with the body. Of a [bytes.Reader] the transport knows
// that it can write it together with the headers, and again if a connection proves
// closed before that; a large body costs more than that anyway.
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

// A bodyReader reads a body that may be let go meanwhile.
type bodyReader struct {
	body *conn.Body
	at   int
}

// Read reads what is left, unless the body was let go.
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

// Close ends nothing: the body may be read again.
func (r *bodyReader) Close() error { return nil }
