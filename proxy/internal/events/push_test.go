package events

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

const changed = "notifications/tools/list_changed"

func isNews(message []byte) bool { return bytes.Contains(message, []byte(changed)) }

// TestPushedIsBounded checks that few messages are kept for a client that does not listen, and that
// announcements of changes are dropped last.
func TestPushedIsBounded(t *testing.T) {
	s := NewPush(isNews)
	if s.sent != nil || s.waiting != nil {
		t.Error("a session keeps something before there is anything")
	}
	news := `{"jsonrpc":"2.0","method":"` + changed + `"}`
	s.Send([]byte(news))
	s.Send([]byte(news))
	if len(s.waiting) != 1 {
		t.Errorf("one change is told %d times", len(s.waiting))
	}
	for i := range 1000 {
		s.Send([]byte(fmt.Sprintf(`{"n":%d,"pad":"`, i)), []byte(strings.Repeat("x", 1000)+`"}`))
	}
	size := 0
	for _, e := range s.waiting {
		size += len(e.message)
	}
	if size > maxKeptBytes || len(s.waiting) < 10 {
		t.Errorf("%d messages of %d bytes", len(s.waiting), size)
	}
	if string(s.waiting[0].message) != news {
		t.Errorf("the news are gone: %s", s.waiting[0].message)
	}
	if _, _, missed := s.join(-1); missed != nil {
		t.Error("who asks for nothing gets something again")
	}
	events := s.take(nil)
	if last := events[len(events)-1]; last.number != 1001 || !strings.Contains(string(last.message), `"n":999`) {
		t.Errorf("the last one is %d", last.number)
	}
	for range 1000 {
		s.Send([]byte(strings.Repeat("y", 2000)))
	}
	if n := len(s.waiting); n != maxPushed {
		t.Errorf("%d messages wait for an open stream", n)
	}
	s.take(nil)
	s.Send([]byte(strings.Repeat("z", 2*maxKeptBytes)))
	if got := s.take(nil); len(got) != 1 {
		t.Errorf("%d messages", len(got))
	}
	if len(s.sent) != 0 && len(s.sent[len(s.sent)-1].message) > maxKeptBytes {
		t.Error("a large message is kept after it was written")
	}
	s.leave()
	s.Send([]byte(strings.Repeat("z", 2*maxKeptBytes)))
	if s.waiting != nil {
		t.Error("a large message is kept for nobody")
	}
}

// TestReplacedPush checks that once a stream was resumed, messages go to the new stream, even if
// the old one has not noticed yet.
func TestReplacedPush(t *testing.T) {
	s := NewPush(func([]byte) bool { return false })
	old, _, _ := s.join(-1)
	current, _, _ := s.join(0)
	s.Send([]byte("1"))
	if got := s.take(old); got != nil {
		t.Errorf("the stream that was replaced takes %v", got)
	}
	if got := s.take(current); len(got) != 1 {
		t.Errorf("the new one takes %v", got)
	}
}

// TestClosedPush checks that Close ends all streams, and that later streams end at once.
func TestClosedPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewPush(isNews)
		serve := func() { s.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), true, nil) }
		for range 2 {
			go serve()
		}
		synctest.Wait()
		s.Close()
		s.Close()
		synctest.Wait()
		if s.Listening() {
			t.Error("a stream is still open")
		}
		serve()
		early := NewPush(isNews)
		early.Close()
		early.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), true, nil)
	})
}
