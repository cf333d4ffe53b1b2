package events

import (
	"strings"
	"testing"
)

// TestLogForgets: what is kept for a client that lost its stream is bounded,
// and the last event is always there.
func TestLogForgets(t *testing.T) {
	var logs Logs
	l := logs.open()
	for range 3 * maxEvents {
		l.add([]byte("x"), false)
	}
	id := l.add([]byte(strings.Repeat("y", 2*maxStreamBytes)), true)
	found, seen := logs.find(id)
	if found != l || seen != 3*maxEvents+1 {
		t.Fatalf("%v, %d", found, seen)
	}
	events, from, done, _ := l.since(0)
	if len(events) > maxEvents || from+len(events)-1 != seen || !done || len(events[len(events)-1]) != 2*maxStreamBytes {
		t.Errorf("%d events from %d", len(events), from)
	}
	for range maxStreams {
		logs.open()
	}
	if found, _ := logs.find(id); found != nil {
		t.Error("the oldest stream is still there")
	}
	for _, bad := range []string{"", "1", "1_", "1_x", "1_-1", "99_0"} {
		if found, _ := logs.find(bad); found != nil {
			t.Errorf("%q was found", bad)
		}
	}
}
