package httpguard

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// How much of the body of a rejected request is read before its connection is
// closed: as much as net/http reads of others, for about as long as it would leave
// the connection open.
const (
	lingerBytes = 256 << 10
	lingerTime  = 500 * time.Millisecond
)

// End must be called last for each request, when its response is written. It lets a
// client that still sends its body read why it was rejected: closing a connection
// with unread bytes resets it, and the response is lost. net/http prevents that only
// where the connection would stay open.
func (g *Guard) End(w http.ResponseWriter, r *http.Request) {
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
