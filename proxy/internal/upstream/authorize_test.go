package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// A purse is a Credentials that the test controls.
type purse struct {
	mu     sync.Mutex
	value  string
	err    error
	renew  func(refused string, status int) (string, error)
	asked  int           // number of Renew calls
	filled chan struct{} // closed when another attempt is worthwhile
}

func (p *purse) Authorization(context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value, p.err
}

func (p *purse) Renew(_ context.Context, refused string, response *http.Response) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if p.renew == nil {
		return "", errors.New("there is no other")
	}
	value, err := p.renew(refused, response.StatusCode)
	if value != "" {
		p.value = value
	}
	return value, err
}

func (p *purse) Await(ctx context.Context) {
	select {
	case <-p.filled:
	case <-ctx.Done():
	}
}

func (p *purse) put(value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.value, p.err = value, nil
}

func (p *purse) times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// guarded returns an endpoint that accepts requests with the token "good" and responds to all
// others with the given status.
func guarded(t *testing.T, modern bool, good *sync.Map) *endpoint {
	e := &endpoint{modern: modern}
	e.call = func(w http.ResponseWriter, r *http.Request, m incoming) {
		if status, wrong := good.Load(r.Header.Get("Authorization")); wrong && status != http.StatusOK {
			w.WriteHeader(status.(int))
			fmt.Fprintf(w, `{"error":"turned away: %s"}`, r.Header.Get("Authorization"))
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, m.ID)
	}
	return serve(t, e)
}

func bothEras(t *testing.T, f func(t *testing.T, modern bool)) {
	for _, modern := range []bool{false, true} {
		t.Run(map[bool]string{false: "legacy", true: "modern"}[modern], func(t *testing.T) { f(t, modern) })
	}
}

func withPurse(e *endpoint, p *purse) Config {
	c := e.config()
	c.Headers, c.Credentials = nil, p
	return c
}

// TestTurnedAway checks that a refused request is sent again with other credentials, byte for byte,
// and only once for each reason.
func TestTurnedAway(t *testing.T) {
	bothEras(t, func(t *testing.T, modern bool) {
		tests := []struct {
			name   string
			first  int // status for the first, second and third token
			second int
			third  int
			sent   int
			status int // status that the caller receives, or 0 if the caller receives the answer
		}{
			{"accepted", 200, 200, 200, 1, 0},
			{"expired", 401, 200, 200, 2, 0},
			{"expired, then not enough", 401, 403, 200, 3, 0},
			{"never good", 401, 401, 401, 3, 401},
			{"forbidden", 403, 200, 200, 2, 0},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				var good sync.Map
				good.Store("Bearer token-1", test.first)
				good.Store("Bearer token-2", test.second)
				good.Store("Bearer token-3", test.third)
				e := guarded(t, modern, &good)
				next := map[string]string{"Bearer token-1": "Bearer token-2", "Bearer token-2": "Bearer token-3"}
				p := &purse{value: "Bearer token-1", renew: func(refused string, _ int) (string, error) { return next[refused], nil }}
				s := start(t, withPurse(e, p))
				reply := <-s.tool("x", `{"n":1E400}`).Done()
				if got := e.seen(`1E400`); got != test.sent {
					t.Errorf("sent %d times, want %d", got, test.sent)
				}
				var status *StatusError
				switch {
				case test.status == 0 && (reply.Err != nil || reply.Result == nil):
					t.Errorf("got %v", reply.Err)
				case test.status != 0 && (!errors.As(reply.Err, &status) || status.Code != test.status || status.Executed()):
					t.Errorf("got %v, want status %d", reply.Err, test.status)
				}
				if reply.Err != nil && strings.Contains(reply.Err.Error(), "token-") {
					t.Errorf("the error holds a token: %v", reply.Err)
				}
				e.mu.Lock()
				defer e.mu.Unlock()
				for i, m := range e.messages {
					if strings.Contains(m, "1E400") && m != e.messages[len(e.messages)-1] {
						t.Errorf("message %d is another: %s", i, m)
					}
				}
			})
		}
	})
}

// TestTurnedAwayIsDecided checks that a request that must not be sent again is not sent with other
// credentials either.
func TestTurnedAwayIsDecided(t *testing.T) {
	bothEras(t, func(t *testing.T, modern bool) {
		var good sync.Map
		good.Store("Bearer token-1", http.StatusUnauthorized)
		e := guarded(t, modern, &good)
		p := &purse{value: "Bearer token-1", renew: func(string, int) (string, error) { return "Bearer token-2", nil }}
		s := start(t, withPurse(e, p))
		stopped := errors.New("stopped meanwhile")
		reply := <-s.Send(Request{Method: "tools/call", Name: "x", Params: []byte(`{"name":"x","arguments":{"n":"once"}}`), Again: func() error { return stopped }}).Done()
		if !errors.Is(reply.Err, stopped) || !errors.Is(reply.Err, ErrNotSent) {
			t.Errorf("%v", reply.Err)
		}
		if n := e.seen(`"once"`); n != 1 {
			t.Errorf("sent %d times", n)
		}
	})
}

// TestOtherFailuresAreNotRepeated checks that no other credentials are tried if the server might
// have executed the request.
func TestOtherFailuresAreNotRepeated(t *testing.T) {
	for _, status := range []int{400, 404, 409, 429, 500, 502, 503, 504} {
		var good sync.Map
		good.Store("Bearer token-1", status)
		e := guarded(t, true, &good)
		p := &purse{value: "Bearer token-1", renew: func(string, int) (string, error) { return "Bearer token-2", nil }}
		s := start(t, withPurse(e, p))
		if reply := <-s.tool("x", `{"n":"once"}`).Done(); reply.Result != nil {
			t.Errorf("status %d: got a result", status)
		}
		if e.seen(`"once"`) != 1 || p.times() != 0 {
			t.Errorf("status %d: sent %d times, and credentials asked for %d times", status, e.seen(`"once"`), p.times())
		}
	}
}

// TestUnauthorized checks that the request counts as not executed, and that the connection stays
// open, because the next login can solve the problem.
func TestUnauthorized(t *testing.T) {
	bothEras(t, func(t *testing.T, modern bool) {
		var good sync.Map
		e := guarded(t, modern, &good)
		p := &purse{value: "Bearer token-1"}
		s := start(t, withPurse(e, p))
		good.Store("Bearer token-1", 401)
		reply := <-s.tool("x", `{}`).Done()
		var u *Unauthorized
		if !errors.As(reply.Err, &u) || !errors.Is(reply.Err, ErrNotSent) || !strings.Contains(reply.Err.Error(), "there is no other") {
			t.Fatalf("got %v, want that there are no credentials", reply.Err)
		}
		if st := s.State(); st.Phase != Up {
			t.Errorf("the upstream is %s: %v", st.Phase, st.Err)
		}
		p.put("Bearer token-2")
		s.answer(s.tool("x", `{}`))
		p.mu.Lock()
		p.err = errors.New("none to be had")
		p.mu.Unlock()
		before := e.seen("tools/call")
		if reply = <-s.tool("x", `{}`).Done(); !errors.As(reply.Err, &u) || e.seen("tools/call") != before {
			t.Errorf("got %v, and %d messages more", reply.Err, e.seen("tools/call")-before)
		}
	})
}

// TestConnectsAfterLogin checks that the upstream is down while credentials are missing, and up as
// soon as they exist.
func TestConnectsAfterLogin(t *testing.T) {
	e := serve(t, &endpoint{})
	p := &purse{err: errors.New("nobody is logged in"), filled: make(chan struct{})}
	s := prepare(t, withPurse(e, p))
	s.Start(t.Context())
	if st := s.await(Down); !errors.As(st.Err, new(*Unauthorized)) || !strings.Contains(st.Err.Error(), "nobody is logged in") {
		t.Fatalf("down for %v", st.Err)
	}
	if n := e.seen(""); n != 0 {
		t.Errorf("the server got %d messages", n)
	}
	p.put("Bearer token-1")
	close(p.filled)
	s.await(Up)
}

// TestCredentialsNotLogged checks that credentials that a server echoes are not logged.
func TestCredentialsNotLogged(t *testing.T) {
	e := &endpoint{modern: true}
	e.call = func(w http.ResponseWriter, r *http.Request, _ incoming) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(500)
		fmt.Fprint(w, "you said "+r.Header.Get("Authorization"))
	}
	s := start(t, withPurse(serve(t, e), &purse{value: "Bearer token-1"}))
	reply := <-s.tool("x", `{}`).Done()
	if reply.Err == nil || !strings.Contains(reply.Err.Error(), "you said Bearer [redacted]") {
		t.Errorf("got %v", reply.Err)
	}
	if strings.Contains(s.log.String(), "token-1") {
		t.Errorf("the log holds the token: %s", s.log)
	}
}
