package streamable

import (
	"context"
	"io"
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// request makes a request with the body. Of a [bytes.Reader] the transport knows
// that it can write it together with the headers, and again if a connection proves
// closed before that; a large body costs more than that anyway.
func request(ctx context.Context, b *conn.Body, c *Conn, s *conn.Session) (*http.Request, error) {
	b.Mu.Lock()
	data, gone := b.Data, b.Gone
	b.Mu.Unlock()
	if gone {
		return nil, conn.ErrBodyGone
	}
	if len(data) < conn.LargeBody {
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
	r.body.Mu.Lock()
	defer r.body.Mu.Unlock()
	switch {
	case r.body.Gone:
		return 0, conn.ErrBodyGone
	case r.at >= len(r.body.Data):
		return 0, io.EOF
	}
	n := copy(p, r.body.Data[r.at:])
	r.at += n
	return n, nil
}

// Close ends nothing: the body may be read again.
func (r *bodyReader) Close() error { return nil }
