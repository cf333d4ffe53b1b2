package events

import (
	"net/http/httptest"
	"testing"
)

// TestLines checks that each line is one event, regardless of how it is written, and that no
// comment is written within a line.
func TestLines(t *testing.T) {
	w := httptest.NewRecorder()
	e := NewLines(w)
	e.Begin("/messages")
	for _, part := range []string{"one\nt", "w", "o\n", "three\nfour\n"} {
		if n, err := e.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
		if part == "w" {
			e.Comment() // no comment here
		}
	}
	e.Comment()
	const want = "event: endpoint\ndata: /messages\n\n" +
		"event: message\ndata: one\n\nevent: message\ndata: two\n\nevent: message\ndata: three\n\nevent: message\ndata: four\n\n: still here\n\n"
	if w.Body.String() != want {
		t.Errorf("%q, want %q", w.Body, want)
	}
}
