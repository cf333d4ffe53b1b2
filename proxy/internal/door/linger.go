package door

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// What is read of a body that nobody wants, behind a refusal that ends the
// connection: what net/http reads of others, and for not much longer than it
// would leave the connection open.
const (
	lingerBytes = 256 << 10
	lingerTime  = 500 * time.Millisecond
)

// Part is called last for each request, when its answer is written. It lets a
// client that still sends its body read why it was turned away: a connection
// that is closed over bytes that were not read is reset, and the answer is lost
// with it. net/http sees to that only where the connection would stay open.
func (d *Door) Part(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 || !r.Close && len(w.Header()["Connection"]) == 0 {
		return
	}
	if r.Header.Get("Expect") != "" { // reading would ask for the body
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingerTime))
	if _, err := io.CopyN(io.Discard, r.Body, lingerBytes); err == io.EOF {
		return
	}
	// More comes than is read: net/http waits a moment before it closes over a
	// body that was found too large, which it learns from its own reader.
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}
