package main

import (
	"strings"
	"testing"
	"time"
)

// TestProgressStaysOnOneLine checks that progress is shown on one line, is not updated faster than
// a person can read, and is removed at the end.
func TestProgressStaysOnOneLine(t *testing.T) {
	var out strings.Builder
	p := &progress{w: &out}
	before := time.Now()
	if p.update(func() string { return "1,234 states" }); !p.next.After(before) {
		t.Error("it may be said again at once")
	}
	p.next = before.Add(time.Hour) // far in the future, however slow this machine is
	p.update(func() string { t.Error("said again too early"); return "" })
	p.next = time.Time{}
	p.update(func() string { return "more" })
	p.clear()
	if want := "\r\x1b[K1,234 states\r\x1b[Kmore\r\x1b[K"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	quiet := newProgress(&out)
	quiet.update(func() string { t.Error("said where nobody looks"); return "" })
	quiet.clear()
}
