package proxy

import (
	"strings"
	"testing"
)

func TestMatchesTemplate(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		want          bool
	}{
		{"a://{x}/data", "a://1/data", true},
		{"a://{x}/data", "a://1/data/2", false},
		{"a://{x}/data", "b://1/data", false},
		{"a://{x}", "a://", true},
		{"a://{x}{?y,z}", "a://1?y=2", true},
		{"a://x", "a://x", true},
		{"a://x", "a://xy", false},
		{"{+path}/end", "any/where/end", true},
		{"{+path}/end", "any/where", false},
		{"a://{x", "a://1", false},
		{"", "a", false},
		{"a{x}b{y}c", "a-b-c", true},
		{"a{x}b{y}c", "a-c-b", false},
	} {
		if got := matchesTemplate(c.template, c.uri); got != c.want {
			t.Errorf("%q, %q: %v", c.template, c.uri, got)
		}
	}
}

// TestStreamLogForgets: what is kept for a client that lost its stream is bounded,
// and the last event is always there.
func TestStreamLogForgets(t *testing.T) {
	var logs streamLogs
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
