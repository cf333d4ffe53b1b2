package httpguard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/access"
)

// TestNew checks that options that would admit more or fewer callers than the operator expects are
// refused.
func TestNew(t *testing.T) {
	jwt := &access.JWT{Issuer: "https://issuer.example", Audience: "https://gate.example/mcp", JWKS: "https://issuer.example/keys"}
	for _, c := range []struct {
		name   string
		access Access
		want   string // part of the error; empty if no error is expected
	}{
		{"nobody", Access{Addr: "127.0.0.1:7"}, "has no authentication"},
		{"no port", Access{Addr: "127.0.0.1", Open: true}, "missing port"},
		{"open", Access{Addr: "127.0.0.1:7", Open: true}, ""},
		{"open at a name of loopback", Access{Addr: "localhost:7", Open: true}, ""},
		{"open on all networks", Access{Addr: ":7", Open: true}, "is reachable from other machines"},
		{"open on another network", Access{Addr: "192.0.2.1:7", Open: true}, "is reachable from other machines"},
		{"a token on all networks", Access{Addr: "[::]:7", Token: "x"}, ""},
		{"a token and JWTs", Access{Addr: "127.0.0.1:7", Token: "x", JWT: jwt}, "choose one"},
		{"JWTs and open", Access{Addr: "127.0.0.1:7", Open: true, JWT: jwt}, "choose one"},
		{"JWTs of nobody", Access{Addr: "127.0.0.1:7", JWT: &access.JWT{}}, "the issuer of tokens is missing"},
		{"an empty token", Access{Addr: "127.0.0.1:7", Tokens: map[string]string{"ann": ""}}, "an empty token or token name"},
		{"one token of two", Access{Addr: "127.0.0.1:7", Tokens: map[string]string{"ann": "x", "bob": "x"}}, "token:ann and token:bob have the same token"},
		{"one token with a name and without", Access{Addr: "127.0.0.1:7", Token: "x", Tokens: map[string]string{"bob": "x"}}, "token and token:bob have the same token"},
	} {
		switch _, err := New(c.access, Options{}); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// knock sends a request with the given Host, Origin and Authorization headers. It omits a header
// whose value is "-".
func knock(d *Guard, host, origin, authorization string) (Caller, int) {
	r := httptest.NewRequest(http.MethodGet, "/mcp", nil)
	r.Host = host
	if origin != "-" {
		r.Header.Set("Origin", origin)
	}
	if authorization != "-" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	v, _ := d.Admit(w, r)
	return v, w.Code
}

// TestAdmit covers E001, E002 and E004: Host, Origin and token are each required.
func TestAdmit(t *testing.T) {
	d, err := New(Access{
		Addr: "0.0.0.0:7777", Token: "the token", Tokens: map[string]string{"bob": "that of bob"},
		Hosts: []string{"Gate.example"}, Origins: []string{"https://App.example/"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const good = "Bearer the token"
	for _, c := range []struct{ host, origin, authorization, principal string }{
		{"localhost:7777", "-", good, "token"},
		{"LOCALHOST:7777", "-", "bearer that of bob", "token:bob"},
		{"gate.example:7777", "https://app.example", good, "token"},
		{"GATE.example", "http://localhost:5173", good, "token"},
		{"gate.example:80", "-", good, ""},
		{"0.0.0.0:7777", "-", good, ""},
		{"0.0.0.0", "-", good, ""},
		{"localhost", "-", good, ""},
		{"127.0.0.1.evil.example:7777", "-", good, ""},
		{"localhost:7777", "https://evil.example", good, ""},
		{"localhost:7777", "http://localhost@evil.example", good, ""},
		{"localhost:7777", "http://localhost/path", good, ""},
		{"localhost:7777", "file://localhost", good, ""},
		{"localhost:7777", "", good, ""},
		{"localhost:7777", "-", "-", ""},
		{"localhost:7777", "-", "Bearer ", ""},
		{"localhost:7777", "-", "Basic the token", ""},
		{"localhost:7777", "-", "Bearer the toke", ""},
	} {
		v, status := knock(d, c.host, c.origin, c.authorization)
		if v.Principal != c.principal || (status == http.StatusOK) != (c.principal != "") {
			t.Errorf("%+v: %q, status %d", c, v.Principal, status)
		}
	}
}

// TestRequests checks that a principal with too many open requests leaves room for others up to the
// total limit, and that closing requests makes room.
func TestRequests(t *testing.T) {
	tokens := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		tokens[name] = "that of " + name
	}
	d, err := New(Access{Addr: "127.0.0.1:7777", Tokens: tokens, MaxRequests: 2}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	enter := func(name string) (Caller, int) { return knock(d, "127.0.0.1:7777", "-", "Bearer that of "+name) }
	var inside []Caller
	for _, name := range []string{"a", "a", "b", "b", "c", "c", "d", "d"} {
		v, status := enter(name)
		if status != http.StatusOK {
			t.Fatalf("%s: status %d", name, status)
		}
		inside = append(inside, v)
	}
	if _, status := enter("a"); status != http.StatusTooManyRequests {
		t.Errorf("a third of one: status %d", status)
	}
	if _, status := enter("e"); status != http.StatusServiceUnavailable {
		t.Errorf("one more than all may have: status %d", status)
	}
	inside[0].Release()
	v, status := enter("e")
	if status != http.StatusOK {
		t.Errorf("after one has left: status %d", status)
	}
	for _, v := range append(inside[1:], v) {
		v.Release()
	}
	if n := total(d.requests); n != 0 {
		t.Errorf("%d requests are open", n)
	}
}

// TestBody checks that the size of messages is limited, whether or not it was announced.
func TestBody(t *testing.T) {
	d, err := New(Access{Addr: "127.0.0.1:7777", Open: true}, Options{MaxMessage: 2 * maxUncounted})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		size, length int // announced length; -1 if not announced
		want         int
	}{
		{"small", 10, 10, 200},
		{"nothing", 0, 0, 200},
		{"large", 2 * maxUncounted, 2 * maxUncounted, 200},
		{"large and not announced", 2 * maxUncounted, -1, 200},
		{"too large", 2*maxUncounted + 1, 2*maxUncounted + 1, 413},
		{"too large and not announced", 2*maxUncounted + 1, -1, 413},
		{"less than announced", 10, 11, 400},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7777/", strings.NewReader(strings.Repeat("x", c.size)))
		r.ContentLength = int64(c.length)
		w := httptest.NewRecorder()
		v, ok := d.Admit(w, r)
		if !ok {
			t.Fatal(w.Body)
		}
		body, release, ok := v.Body(w, r)
		if w.Code != c.want || ok != (c.want == 200) || ok && len(body) != c.size {
			t.Errorf("%s: status %d, %d bytes", c.name, w.Code, len(body))
		}
		if ok {
			release()
		}
		v.Release()
	}
	if n := total(d.bodies); n != 0 {
		t.Errorf("%d bytes are held", n)
	}
}
