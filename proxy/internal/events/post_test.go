package events

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/rev"
)

func refusal(code string) string { return `{"jsonrpc":"2.0","id":1,"error":{"code":` + code + `}}` }

// TestPostStatus checks that only revisions since 2026-07-28 give errors an HTTP status other than
// 200.
func TestPostStatus(t *testing.T) {
	for _, c := range []struct {
		method string
		rev    *rev.Rev
		answer string
		want   int
	}{
		{"tools/list", rev.Rev2025, refusal("-32601"), 200},
		{"tools/list", rev.Rev2026, refusal("-32601"), 404},
		{"tools/list", rev.Rev2026, refusal("-32602"), 400},
		{"tools/list", rev.Rev2026, refusal("-32020"), 400},
		{"tools/list", rev.Rev2026, refusal("-32603"), 200},
		{"tools/call", rev.Rev2026, refusal("-32602"), 200},
		{"tools/call", rev.Rev2026, `{"jsonrpc":"2.0","id":1,"result":{"error":{"code":-32601}}}`, 200},
	} {
		for _, accept := range []string{"application/json", "text/event-stream, application/json"} {
			w := httptest.NewRecorder()
			s := NewPost(w, PostOptions{Method: c.method, Rev: c.rev, Accept: accept})
			s.Reply([]byte(c.answer))
			s.Reply([]byte("once more"))
			if w.Code != c.want || !strings.Contains(w.Body.String(), c.answer) || strings.Contains(w.Body.String(), "once more") {
				t.Errorf("%s for %s: status %d: %s", c.answer, c.method, w.Code, w.Body)
			}
			if events := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream"); events != (c.want == 200 && accept != "application/json") {
				t.Errorf("%s for %s, accepting %s: %v", c.answer, c.method, accept, w.Header())
			}
		}
	}
}

// TestPostUnanswered checks that a canceled request gets no answer, and that nothing is written
// after the handler has returned.
func TestPostUnanswered(t *testing.T) {
	w := httptest.NewRecorder()
	s := NewPost(w, PostOptions{Method: "tools/call"})
	s.Finish(httptest.NewRequest(http.MethodPost, "/", nil))
	s.Send([]byte("too late"))
	s.Reply([]byte("too late"))
	if w.Code != http.StatusAccepted || w.Body.Len() > 0 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// TestResume checks that a client that lost its stream gets the rest once, and that a client that
// got all of it cannot resume the stream.
func TestResume(t *testing.T) {
	logs := newLogs(new(Budget), "ann")
	resume := func(seen string) (string, bool) {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Last-Event-ID", seen)
		found := logs.Resume(w, r, nil)
		return w.Body.String(), found
	}
	lost, cancel := context.WithCancel(t.Context())
	w := httptest.NewRecorder()
	s := NewPost(w, PostOptions{Method: "tools/call", Logs: logs})
	s.Send([]byte("one"))
	cancel()
	s.Finish(httptest.NewRequest(http.MethodPost, "/", nil).WithContext(lost))
	s.Send([]byte("two"))
	s.Reply([]byte("three"))
	const rest = "id: 1_2\nevent: message\ndata: two\n\nid: 1_3\nevent: message\ndata: three\n\n"
	if want := "id: 1_0\nretry: 1000\ndata: \n\nid: 1_1\nevent: message\ndata: one\n\n"; w.Body.String() != want {
		t.Errorf("%q, want %q", w.Body, want)
	}
	if got, found := resume("1_1"); !found || got != rest {
		t.Errorf("%q, want %q", got, rest)
	}
	if got, found := resume("1_1"); found {
		t.Errorf("the rest comes twice: %q", got)
	}
	s = NewPost(httptest.NewRecorder(), PostOptions{Method: "tools/call", Logs: logs})
	s.Send([]byte("one"))
	s.Reply([]byte("two"))
	s.Finish(httptest.NewRequest(http.MethodPost, "/", nil))
	if got, found := resume("2_1"); found {
		t.Errorf("a stream that was read to its end is kept: %q", got)
	}
}

// TestInterrupt checks that a response is interrupted only if the client can resume it.
func TestInterrupt(t *testing.T) {
	for _, logs := range []*Logs{nil, newLogs(new(Budget), "ann")} {
		w := httptest.NewRecorder()
		s := NewPost(w, PostOptions{Method: "tools/call", Logs: logs})
		if gone := s.Interrupt(usualRetry); gone != (logs != nil) || strings.Contains(w.Body.String(), "retry: 1000\n\n") != gone {
			t.Errorf("%t: %q", gone, w.Body)
		}
		s.Finish(httptest.NewRequest(http.MethodPost, "/", nil))
	}
}
