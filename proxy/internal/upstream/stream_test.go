package upstream

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
)

func TestNotificationsComeBeforeTheReply(t *testing.T) {
	e := serve(t, &endpoint{})
	e.call = func(w http.ResponseWriter, _ *http.Request, m incoming) {
		var list []string
		for i := range 20 {
			list = append(list, fmt.Sprintf("id: %d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"n\":%d}}", i, i))
		}
		events(w, append(list, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", m.ID))...)
	}
	s := start(t, e.config())
	var got []string
	done := make(chan Reply, 1)
	s.Send(Request{
		Method: "tools/call", Name: "x", Params: []byte(`{}`),
		Notify: func(m string, p []byte) { got = append(got, string(p)) }, Deliver: func(r Reply) { done <- r },
	})
	if r := <-done; r.Err != nil || len(got) != 20 || got[19] != `{"n":19}` {
		t.Error(r.Err, got)
	}
}

// TestProgressOnTheWrongStream makes two calls in one session, where the server sends the progress
// of one on the stream of the other.
func TestProgressOnTheWrongStream(t *testing.T) {
	first := make(chan string, 1)
	release := make(chan struct{})
	e := serve(t, &endpoint{})
	e.call = func(w http.ResponseWriter, _ *http.Request, m incoming) {
		if m.Params.Name == "a" {
			first <- string(m.ID)
			<-release
			ok(w, nil, m)
			return
		}
		events(w, `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":501}}`,
			fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", m.ID))
	}
	s := start(t, e.config())
	var atA, atB atomic.Int64
	a := s.Send(Request{Method: "tools/call", Name: "a", Params: []byte(`{"name":"a"}`), Token: 501, Notify: func(string, []byte) { atA.Add(1) }})
	<-first
	b := s.Send(Request{Method: "tools/call", Name: "b", Params: []byte(`{"name":"b"}`), Token: 502, Notify: func(string, []byte) { atB.Add(1) }})
	s.answer(b)
	close(release)
	s.answer(a)
	if atA.Load() != 1 || atB.Load() != 0 {
		t.Error(atA.Load(), atB.Load())
	}
}

func TestServerRequestsOnTheStream(t *testing.T) {
	e := serve(t, &endpoint{})
	answered := make(chan struct{})
	e.call = func(w http.ResponseWriter, _ *http.Request, m incoming) {
		events(w, `data: {"jsonrpc":"2.0","id":"p1","method":"ping"}`, fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%s,"method":"roots/list"}`, m.ID))
		<-answered
		events(w, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"real\":1}}", m.ID))
	}
	s := start(t, e.config())
	x := s.tool("x", "{}")
	e.await(`"id":"p1","result":{}`)
	e.await(`"code":-32601`)
	select {
	case <-x.Done():
		t.Fatal("answered too early")
	default:
	}
	close(answered)
	if got := s.answer(x); got != `{"real":1}` {
		t.Error(got)
	}
}

// TestStreamIsTakenUpAgain checks a legacy server that ends a stream early and continues on another
// one.
func TestStreamIsTakenUpAgain(t *testing.T) {
	e := serve(t, &endpoint{})
	var id atomic.Value
	e.call = func(w http.ResponseWriter, _ *http.Request, m incoming) {
		id.Store(string(m.ID))
		events(w, "id: e1\nretry: 1\ndata: ")
	}
	e.get = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "e1" {
			w.WriteHeader(405)
			return
		}
		events(w, fmt.Sprintf("id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"late\":true}}", id.Load()))
	}
	s := start(t, e.config())
	if got := s.answer(s.tool("x", "{}")); got != `{"late":true}` {
		t.Error(got)
	}
	if n := e.seen("tools/call"); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

func TestStreamOfALegacyServer(t *testing.T) {
	t.Parallel()
	e := serve(t, &endpoint{})
	var times atomic.Int64
	e.get = func(w http.ResponseWriter, r *http.Request) {
		if times.Add(1) == 1 {
			events(w, `id: 7`+"\nretry: 1\n"+`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			return // the client then resumes the stream
		}
		if r.Header.Get("Last-Event-ID") == "7" && r.Header.Get("Mcp-Session-Id") == "s-1" {
			events(w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"n":2}}`)
		}
		<-r.Context().Done()
	}
	s := start(t, e.config())
	for _, want := range []string{
		// Each stream begins with the events that may have been missed.
		"listening", "notifications/tools/list_changed ",
		"listening", `notifications/message {"n":2}`,
	} {
		if got := <-s.notes; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
