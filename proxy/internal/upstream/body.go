package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// largeBody is the size from which a body is let go once nobody wants its answer.
const largeBody = 64 << 10

var errBodyGone = errors.New("the request was cancelled before all of it was sent")

// A body is what a request over HTTP carries. It is kept until there is an answer,
// since a server that has forgotten the session gets it once more; forget lets it
// go before that.
type body struct {
	mu   sync.Mutex
	data []byte
	gone bool
}

// fill puts the bytes in, unless nobody wants their answer any more.
func (b *body) fill(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.gone {
		b.data = data
	}
}

func (b *body) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data, b.gone = nil, true
}

// request makes a request with the body. Of a [bytes.Reader] the transport knows
// that it can write it together with the headers, and again if a connection proves
// closed before that; a large body costs more than that anyway.
func (b *body) request(ctx context.Context, c *httpConn, s *session) (*http.Request, error) {
	b.mu.Lock()
	data, gone := b.data, b.gone
	b.mu.Unlock()
	if gone {
		return nil, errBodyGone
	}
	if len(data) < largeBody {
		return c.newRequest(ctx, http.MethodPost, s, data)
	}
	r, err := c.newRequest(ctx, http.MethodPost, s, nil)
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
	body *body
	at   int
}

// Read reads what is left, unless the body was let go.
func (r *bodyReader) Read(p []byte) (int, error) {
	r.body.mu.Lock()
	defer r.body.mu.Unlock()
	switch {
	case r.body.gone:
		return 0, errBodyGone
	case r.at >= len(r.body.data):
		return 0, io.EOF
	}
	n := copy(p, r.body.data[r.at:])
	r.at += n
	return n, nil
}

// Close ends nothing: the body may be read again.
func (r *bodyReader) Close() error { return nil }
