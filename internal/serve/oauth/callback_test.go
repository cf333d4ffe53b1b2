package oauth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// visited returns the page that a browser receives from the listener.
func visited(t *testing.T, address, host string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		request.Host = host
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestCallbackAcceptsOneAnswer checks that only one response is accepted, and only if it carries
// the state of the login.
func TestCallbackAcceptsOneAnswer(t *testing.T) {
	for _, failed := range []bool{false, true} {
		c, err := listenForCallback(Redirect{}, "the-state")
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []string{"?state=another&code=stolen", "?code=stolen", ""} {
			if status, _ := visited(t, c.redirectURI()+wrong, ""); status != http.StatusBadRequest {
				t.Errorf("%q: status %d", wrong, status)
			}
		}
		right := c.redirectURI() + "?state=the-state&code=%3Cscript%3E"
		if status, _ := visited(t, right, "evil.example"); status != http.StatusBadRequest {
			t.Errorf("a name that leads here: status %d", status)
		}
		if status, _ := visited(t, strings.Replace(right, "/callback", "/", 1), ""); status != http.StatusNotFound {
			t.Errorf("another page: status %d", status)
		}
		shown := make(chan string)
		go func() {
			_, body := visited(t, right, "")
			shown <- body
		}()
		values, err := c.wait(t.Context())
		if err != nil || values.Get("code") != "<script>" {
			t.Fatalf("got %v, %v", values, err)
		}
		if status, body := visited(t, right, ""); status != http.StatusGone || strings.Contains(body, "script") {
			t.Errorf("once more: status %d, %s", status, body)
		}
		c.close(failed)
		want := "You are logged in"
		if failed {
			want = "The login failed"
		}
		if body := <-shown; !strings.Contains(body, want) || strings.Contains(body, "script") {
			t.Errorf("shown: %s", body)
		}
	}
}

// TestRedirectURIs checks clients that are registered with a different name of this machine and a
// different path. The browser can reach the listener at both addresses of localhost.
func TestRedirectURIs(t *testing.T) {
	for _, r := range []Redirect{{Host: "localhost", Path: "/oauth/cb"}, {Host: "127.0.0.1"}, {Host: "[::1]"}} {
		c, err := listenForCallback(r, "s")
		if err != nil {
			if r.Host == "[::1]" {
				t.Skip("this machine has no IPv6")
			}
			t.Fatal(err)
		}
		if want := "http://" + r.Host; !strings.HasPrefix(c.redirectURI(), want+":") || r.Path != "" && !strings.HasSuffix(c.redirectURI(), r.Path) {
			t.Errorf("%+v: %s", r, c.redirectURI())
		}
		shown := make(chan string)
		go func() {
			_, body := visited(t, c.redirectURI()+"?state=s&code=x", "")
			shown <- body
		}()
		if values, err := c.wait(t.Context()); err != nil || values.Get("code") != "x" {
			t.Errorf("%+v: %v %v", r, values, err)
		}
		c.close(false)
		<-shown
	}
}

// TestTypedAddressCountsOnce checks that a typed address counts like a request from the browser:
// once, and only if it contains the state of the login.
func TestTypedAddressCountsOnce(t *testing.T) {
	c, err := listenForCallback(Redirect{Host: "localhost"}, "the-state")
	if err != nil {
		t.Fatal(err)
	}
	for wrong, want := range map[string]string{
		"yes": "begins with http://localhost:", "http://evil.example/callback?state=the-state&code=x": "begins with",
		c.redirectURI() + "?state=another&code=x": "belongs to another login", c.redirectURI(): "belongs to another login", "%": "begins with",
	} {
		if err := c.acceptTyped(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for _, code := range []string{"first", "second"} {
		if err := c.acceptTyped(" " + c.redirectURI() + "?code=" + code + "&state=the-state\r"); err != nil {
			t.Fatal(err)
		}
	}
	if values, err := c.wait(t.Context()); err != nil || values.Get("code") != "first" {
		t.Errorf("got %v, %v", values, err)
	}
	if status, _ := visited(t, c.redirectURI()+"?state=the-state&code=third", ""); status != http.StatusGone {
		t.Errorf("after that, the browser gets status %d", status)
	}
	c.close(false)
}

// A slowPage is a response writer that blocks until it is released.
type slowPage struct {
	*httptest.ResponseRecorder
	comes   chan struct{} // closed when the response begins
	release chan struct{}
}

func (p *slowPage) WriteHeader(status int) {
	close(p.comes)
	<-p.release
	p.ResponseRecorder.WriteHeader(status)
}

// TestCallbackWaitsForBrowser checks that the listener stays open until the browser has received
// the result, however long that takes.
func TestCallbackWaitsForBrowser(t *testing.T) {
	c, err := listenForCallback(Redirect{}, "the-state")
	if err != nil {
		t.Fatal(err)
	}
	p := &slowPage{ResponseRecorder: httptest.NewRecorder(), comes: make(chan struct{}), release: make(chan struct{})}
	go c.acceptRequest(p, httptest.NewRequest(http.MethodGet, c.redirectURI()+"?state=the-state&code=x", nil))
	if _, err := c.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		c.close(false)
		close(closed)
	}()
	<-p.comes
	for range 1000 {
		select {
		case <-closed:
			t.Fatal("it is closed before the page was shown")
		default:
			runtime.Gosched()
		}
	}
	close(p.release)
	<-closed
	if !strings.Contains(p.Body.String(), "You are logged in") {
		t.Errorf("shown: %s", p.Body)
	}
}
