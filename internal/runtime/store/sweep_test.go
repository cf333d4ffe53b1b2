package store_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// TestIdlePrincipalsAreEvicted: if there are too many principals, the parts of those without sessions
// are evicted and later read again unchanged; the part of a principal with a session stays.
func TestIdlePrincipalsAreEvicted(t *testing.T) {
	d := durable(t, database(t, place(t)), policyOf(t, limit("x", 2, gate.ScopePrincipal)), nil)
	d.SetRoom(3)
	session := func(who, n string) admission.Key { return admission.Key{Session: who + n, Principal: who} }
	for _, who := range []string{"ann", "bob", "eve"} {
		begin(t, d, session(who, "1"))
		passes(t, d, session(who, "1"), "x", true)
	}
	if err := d.End(t.Context(), session("ann", "1")); err != nil {
		t.Fatal(err)
	}
	if !d.Kept("ann") {
		t.Error("ann is forgotten, and there was room")
	}
	begin(t, d, session("kim", "1"))
	if d.Kept("ann") || !d.Kept("bob") || !d.Kept("kim") {
		t.Error("it is not ann alone who is forgotten")
	}
	for _, who := range []string{"ann", "bob"} {
		begin(t, d, session(who, "2"))
		passes(t, d, session(who, "2"), "x", true)
		passes(t, d, session(who, "2"), "x", false)
	}
	passes(t, d, session("bob", "1"), "x", false)
}
