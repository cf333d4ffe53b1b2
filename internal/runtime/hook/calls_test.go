package hook

import (
	"fmt"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// TestSessionLimitPerPrincipal: a principal with very many sessions does not prevent the sessions of others.
func TestSessionLimitPerPrincipal(t *testing.T) {
	now := time.Now()
	g := New(Options{Now: func() time.Time { return now }})
	of := func(principal string, n int) sessionKey {
		return sessionKey{admission.Key{Session: "p-" + principal, Principal: principal}, "claude-code", fmt.Sprint(n)}
	}
	open := 0
	for n := range maxSessions {
		if s, _ := g.callsOf(of("eve", n), false, true); s != nil {
			open++
		}
	}
	if open != maxOwn {
		t.Errorf("%d sessions of one principal are open", open)
	}
	if s, _ := g.callsOf(of("eve", 0), false, true); s == nil {
		t.Error("a session that is open is refused")
	}
	if s, _ := g.callsOf(of("ann", 0), false, true); s == nil {
		t.Error("another principal has none")
	}
	now = now.Add(idleSession + time.Hour)
	if s, idle := g.callsOf(of("eve", maxSessions), false, true); s == nil || len(idle) != maxOwn+1 {
		t.Errorf("%d are forgotten", len(idle))
	}
}

// TestRemovedCallIsNotOpen checks that a call that was removed while a person was asked about it is
// not counted as open when it is admitted, so that its outcome is recorded as unknown.
func TestRemovedCallIsNotOpen(t *testing.T) {
	var s calls
	first := &call{key: "first", turn: "t"}
	s.add(first, true)
	for n := range maxOpen {
		last := &call{key: fmt.Sprint(n), turn: "t"}
		if _, _, late := s.add(last, true); len(late) != 0 {
			t.Fatalf("%d calls are late", len(late))
		}
		if n < maxOpen-1 && !s.admit(last, new(admission.Ticket)) {
			t.Fatal("an open call is not admitted")
		}
	}
	if s.admit(first, new(admission.Ticket)) {
		t.Error("the removed call is open")
	}
}
