package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// A callback is where the browser comes back to: a listener of this machine
// that takes one answer.
type callback struct {
	listener net.Listener
	server   *http.Server
	state    string
	answers  chan url.Values
	taken    sync.Once
	done     chan struct{} // closed when it is known how the login ended
	failed   bool          // set before done is closed
	shown    chan struct{} // closed when the browser has been told
}

// listenForCallback listens at a port of this machine; 0: any.
func listenForCallback(port int, state string) (*callback, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listening for the browser to come back: %w", err)
	}
	c := &callback{listener: l, state: state, answers: make(chan url.Values, 1), done: make(chan struct{}), shown: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", c.arrive)
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { _ = c.server.Serve(l) }() // ends with close
	return c, nil
}

// address is what the authorization server sends the browser to.
func (c *callback) address() string { return "http://" + c.listener.Addr().String() + "/callback" }

// arrive takes the first request with the state of this login. Others, as a
// page of somebody else could make, change nothing.
func (c *callback) arrive(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if r.Host != c.listener.Addr().String() || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(c.state)) != 1 {
		page(w, http.StatusBadRequest, "This is not the login that petrigate waits for", "Nothing has changed. Go back to the page that petrigate opened.")
		return
	}
	first := false
	c.taken.Do(func() { first = true })
	if !first {
		page(w, http.StatusGone, "This login has been used", "Each is good for one time. Run petrigate login again if you need another.")
		return
	}
	defer close(c.shown)
	c.answers <- query
	select {
	case <-c.done:
	case <-r.Context().Done():
		return
	}
	if c.failed {
		page(w, http.StatusBadRequest, "The login failed", "The terminal in which petrigate runs says why.")
		return
	}
	page(w, http.StatusOK, "You are logged in", "You can close this window.")
}

// page shows fixed texts only: nothing of the request.
func page(w http.ResponseWriter, status int, title, text string) {
	html := fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><title>petrigate: %[1]s</title>
<body style="font-family:system-ui,sans-serif;max-width:32em;margin:15vh auto;padding:0 1em;line-height:1.5">
<h1 style="font-size:1.4em">%[1]s</h1><p>%[2]s</p></body></html>
`, title, text)
	w.Header().Set("Content-Length", strconv.Itoa(len(html)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, html)
	_ = http.NewResponseController(w).Flush() // whatever becomes of the connection
}

// wait is the answer of the authorization server.
func (c *callback) wait(ctx context.Context) (url.Values, error) {
	select {
	case values := <-c.answers:
		return values, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, errors.New("nobody came back from the browser in time")
		}
		return nil, ctx.Err()
	}
}

// close says in the browser how the login ended, and stops listening.
func (c *callback) close(failed bool) {
	c.failed = failed
	close(c.done)
	c.taken.Do(func() { close(c.shown) }) // nobody came
	<-c.shown
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
}
