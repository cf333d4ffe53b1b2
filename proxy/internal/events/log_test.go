package events

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func newLogs(b *Budget, principal string) *Logs { return &Logs{Budget: b, Principal: principal} }

func text(size int) [][]byte { return [][]byte{[]byte(strings.Repeat("x", size))} }

// TestLogForgets checks that only a limited number of events is kept for a client that has lost its
// stream.
func TestLogForgets(t *testing.T) {
	logs := newLogs(new(Budget), "ann")
	l := logs.open([]byte("7"))
	for range 3 * maxEvents {
		l.add(text(1), false)
	}
	events, from, done, _ := l.eventsSince(0)
	if len(events) != maxEvents || from != 2*maxEvents+1 || done {
		t.Errorf("%d events from %d", len(events), from)
	}
	id := l.add(text(maxStreamBytes-eventCost), true)
	found, seen := logs.findLog(id)
	if found != l || seen != 3*maxEvents+1 {
		t.Fatalf("%v, %d", found, seen)
	}
	events, from, done, _ = l.eventsSince(0)
	if len(events) != 1 || from != seen || !done || len(events[0]) != maxStreamBytes-eventCost {
		t.Errorf("%d events from %d", len(events), from)
	}
	for range maxStreams {
		logs.open(nil)
	}
	if found, _ := logs.findLog(id); found != nil || len(logs.Budget.held) != 0 {
		t.Error("the oldest stream is still there")
	}
	for _, bad := range []string{"", "1", "1_", "1_x", "1_-1", "99_0"} {
		if found, _ := logs.findLog(bad); found != nil {
			t.Errorf("%q was found", bad)
		}
	}
}

// rest returns the events that a client receives when it resumes a stream.
func (s *Logs) rest(t *testing.T, lastEventID string) string {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Last-Event-ID", lastEventID)
	if !s.Resume(w, r, nil) {
		t.Errorf("there is no stream of %s", lastEventID)
	}
	return w.Body.String()
}

// TestLargeAnswer checks that an answer that is too large is not kept, and that a client that
// resumes the stream gets an error with the ID of its request.
func TestLargeAnswer(t *testing.T) {
	for id, told := range map[string]bool{`"r"`: true, `"` + strings.Repeat("x", maxKeptID) + `"`: false} {
		logs := newLogs(new(Budget), "ann")
		l := logs.open([]byte(id))
		l.add(text(1), false)
		l.add(text(maxStreamBytes), false)
		l.add(text(2), false)
		l.add(text(maxStreamBytes), true)
		if l.size != 0 || logs.Budget.total != 0 {
			t.Errorf("%d bytes are kept", l.size)
		}
		rest := logs.rest(t, "1_0")
		if got := strings.Contains(rest, "id: 1_4\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+id+`,"error":{"code":-32603,"message":"The answer to this request is lost`); got != told || !told && rest != "" {
			t.Errorf("%q", rest)
		}
	}
}

// TestBudget checks that the oldest streams of a principal lose their events if it exceeds its
// budget, and that those of the principal with the most bytes lose theirs if the total is exceeded.
func TestBudget(t *testing.T) {
	const size = 4 << 20
	b := new(Budget)
	left := func(s *Logs, n int) (streams []*log) {
		for range n {
			l := s.open([]byte("1"))
			l.add(text(1), false)
			l.add(text(size-2*eventCost-1), true)
			streams = append(streams, l)
		}
		return streams
	}
	kept := func(streams []*log) (n int) {
		for _, l := range streams {
			if l.place != nil && !l.lost {
				n++
			}
		}
		return n
	}
	one, two := newLogs(b, "ann"), newLogs(b, "ann")
	first, second := left(one, 3), left(two, 3)
	if kept(first) != 1 || kept(first[2:]) != 1 || kept(second) != 3 {
		t.Errorf("%d of the older and %d of the newer streams are kept", kept(first), kept(second))
	}
	if rest := one.rest(t, "1_0"); !strings.Contains(rest, "id: 1_2") || !strings.Contains(rest, "is lost") {
		t.Errorf("%q", rest)
	}
	if rest := one.rest(t, "3_1"); !strings.Contains(rest, "id: 3_2") || len(rest) < size-3*eventCost {
		t.Errorf("%.300q", rest)
	}
	small := left(newLogs(b, "small"), 1)
	for i := range budgetAll / budgetEach {
		left(newLogs(b, fmt.Sprint("other ", i)), budgetEach/size)
	}
	if kept(small) != 1 || b.total > budgetAll {
		t.Errorf("%d bytes are kept", b.total)
	}
	for _, s := range []*Logs{one, two} {
		s.Close()
	}
	if b.held["ann"] != nil {
		t.Errorf("%d bytes of a client that is gone", b.held["ann"].bytes)
	}
	if l := left(two, 1)[0]; l.size != 0 || len(two.order) != 0 {
		t.Error("a client that is gone has a new stream")
	}
}

// TestLeftStreams checks that a stream continues if its events are dropped while it is still being
// written, and that a client that stayed connected gets all of it.
func TestLeftStreams(t *testing.T) {
	b := new(Budget)
	logs := newLogs(b, "ann")
	w := httptest.NewRecorder()
	s := NewPost(w, PostOptions{Method: "tools/call", ID: []byte("1"), Logs: logs})
	s.Send([]byte("one"))
	s.Reply(text(maxStreamBytes)...)
	lost, cancel := context.WithCancel(t.Context())
	cancel()
	s.Finish(httptest.NewRequest(http.MethodPost, "/", nil).WithContext(lost))
	if w.Body.Len() < maxStreamBytes || b.total != 0 {
		t.Errorf("%d bytes were written, %d are kept", w.Body.Len(), b.total)
	}
	if rest := logs.rest(t, "1_1"); !strings.Contains(rest, `"id":1,"error"`) {
		t.Errorf("%q", rest)
	}
}
