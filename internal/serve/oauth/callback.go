package oauth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Redirect is the redirect URI of a login. It always refers to this machine. The zero value
// stands for http://127.0.0.1/callback on any free port.
type Redirect struct {
	Host string // "127.0.0.1" (the default), "localhost" or "[::1]"
	Port int    // 0 means any free port
	Path string // empty means /callback
}

// A callback receives the authorization response of a login. It listens on this machine and accepts
// a single response. If the browser cannot reach the listener, the user can type the browser's
// final address, which contains the response.
type callback struct {
	host     string // host:port
	path     string
	server   *http.Server
	state    string
	answers  chan url.Values
	answered sync.Once
	done     chan struct{} // closed by close, when the login has succeeded or failed
	failed   bool          // whether the login failed; set before done is closed
	shown    chan struct{} // closed when the final page has been sent to the browser, or when no page has to be sent
}

// listenForCallback starts listening on this machine for the authorization response.
func listenForCallback(r Redirect, state string) (*callback, error) {
	r.Host, r.Path = cmp.Or(r.Host, "127.0.0.1"), cmp.Or(r.Path, "/callback")
	listeners, err := listenLocally(r)
	if err != nil {
		return nil, fmt.Errorf("listening for the browser to come back: %w", err)
	}
	port := listeners[0].Addr().(*net.TCPAddr).Port
	c := &callback{
		host: r.Host + ":" + strconv.Itoa(port), path: r.Path, state: state,
		answers: make(chan url.Values, 1), done: make(chan struct{}), shown: make(chan struct{}),
	}
	c.server = &http.Server{Handler: http.HandlerFunc(c.serve), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	for _, l := range listeners {
		go func() { _ = c.server.Serve(l) }() // Serve returns after close
	}
	return c, nil
}

// listenLocally listens on each address that the redirect's host may refer to, because a browser
// may resolve "localhost" to an IPv4 or an IPv6 address. It is not an error if the machine lacks
// IPv6.
func listenLocally(r Redirect) ([]net.Listener, error) {
	first := "127.0.0.1"
	if r.Host == "[::1]" {
		first = "::1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(first, strconv.Itoa(r.Port)))
	if err != nil {
		return nil, err
	}
	listeners := []net.Listener{l}
	if r.Host == "localhost" {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		if also, err := net.Listen("tcp", net.JoinHostPort("::1", port)); err == nil {
			listeners = append(listeners, also)
		} else if errors.Is(err, syscall.EADDRINUSE) { // the port is in use; fail, because the program that uses it could receive the authorization code
			_ = l.Close()
			return nil, err
		}
	}
	return listeners, nil
}

// redirectURI returns the address that the authorization server redirects the browser to.
func (c *callback) redirectURI() string { return "http://" + c.host + c.path }

func (c *callback) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != c.path {
		http.NotFound(w, r)
		return
	}
	c.acceptRequest(w, r)
}

// acceptTyped accepts a redirect address typed by a user whose browser cannot reach the listener,
// for example because the browser runs on another machine. It returns an error if the user typed
// anything other than the redirect address of this login.
func (c *callback) acceptTyped(line string) error {
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil || u.Host != c.host || u.Path != c.path {
		return fmt.Errorf("paste the browser's final address, which begins with %s?", c.redirectURI())
	}
	query := u.Query()
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(c.state)) != 1 {
		return errors.New("this address belongs to another login: open the page shown above")
	}
	c.answered.Do(func() {
		close(c.shown) // no browser is waiting for a page
		c.answers <- query
	})
	return nil
}

// acceptRequest accepts the first request that has the host of the redirect address and contains
// the state parameter of this login. It responds when the login has succeeded or failed. For any
// other request, it sends an error page and does nothing else, because any web page can make the
// browser send such a request.
func (c *callback) acceptRequest(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if !strings.EqualFold(r.Host, c.host) || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(c.state)) != 1 {
		writePage(w, http.StatusBadRequest, "petrigate is not waiting for this login", "Nothing has changed. Go back to the page that petrigate opened.")
		return
	}
	first := false
	c.answered.Do(func() { first = true })
	if !first {
		writePage(w, http.StatusGone, "This login has been used", "Each login works once. Run petrigate login again if you need another.")
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
		writePage(w, http.StatusBadRequest, "The login failed", "See the terminal that runs petrigate for the reason.")
		return
	}
	writePage(w, http.StatusOK, "You are logged in", "You can close this window.")
}

// writePage writes a page of fixed text. The page must not contain anything from the request.
func writePage(w http.ResponseWriter, status int, title, text string) {
	html := fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><title>petrigate: %[1]s</title>
<body style="font-family:system-ui,sans-serif;max-width:32em;margin:15vh auto;padding:0 1em;line-height:1.5">
<h1 style="font-size:1.4em">%[1]s</h1><p>%[2]s</p></body></html>
`, title, text)
	w.Header().Set("Content-Length", strconv.Itoa(len(html)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, html)
	_ = http.NewResponseController(w).Flush() // ignore write errors: the login does not depend on the page
}

// wait waits for the authorization response and returns its parameters.
func (c *callback) wait(ctx context.Context) (url.Values, error) {
	select {
	case values := <-c.answers:
		return values, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, errors.New("the browser did not return in time")
		}
		return nil, ctx.Err()
	}
}

// close sends the result of the login to the browser and stops listening.
func (c *callback) close(failed bool) {
	c.failed = failed
	close(c.done)
	c.answered.Do(func() { close(c.shown) }) // no response has arrived, so no browser is waiting
	<-c.shown
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
}
