package gate_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestShadowForValues checks that a net in shadow mode has both its markings for each value and
// counts the calls that it would have refused for any value.
func TestShadowForValues(t *testing.T) {
	n := sameNet("backup", "delete", "path")
	p := play(t, gate.PolicyOptions{}, shadow(n))
	p.script(
		`backup {"path":["a","b"]} -> `,
		`delete {"path":"a"} -> `,
		`delete {"path":["b","c"]} -> blocked `+n.Name,
		`delete {"path":"b"} -> `,
		`delete {} -> blocked `+n.Name,
	)
	r := p.Shadow()
	if r.Refused != 2 || r.Nets[0].Refused != 2 || r.Nets[0].Asked != 0 {
		t.Errorf("%+v", r)
	}
	p.status(n.Name + " (active, shadow): ready:1; enforced: ready:1 for each path")
	p.script(`backup {"path":"a"} -> `, `delete {"path":["a","c"]} -> blocked `+n.Name)
	p.status(n.Name + " (active, shadow): ready:1; enforced: ready:1 for each path; a: ready:1; enforced: gate:1")
	p.script(`delete {"path":"a"} -> `)
	p.status(n.Name + " (active, shadow): ready:1; enforced: ready:1 for each path")
}

// TestShadowResults checks that values in a result are evidence in both worlds, except where the
// call would not have been made.
func TestShadowResults(t *testing.T) {
	n := contactsNet()
	limit := limitNet("contacts", 2, "session")
	p := play(t, gate.PolicyOptions{Shadow: true}, n, limit)
	shows := func(result string) *gate.Allow {
		a := p.allow("contacts")
		a.Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(result)})
		return a
	}
	shows(`["ann"]`)
	shows(`["bob"]`)
	if a := shows(`["eve"]`); a.Would == nil {
		t.Error("a third call passes the limit")
	}
	p.script(`send {"to":"ann"} -> `, `send {"to":"bob"} -> `, `send {"to":"eve"} -> blocked `+n.Name)
}

// TestShadowWatches checks that a call that started too early for a value is not evidence for it in
// either world, and is forgotten once it has ended.
func TestShadowWatches(t *testing.T) {
	p := play(t, gate.PolicyOptions{Keys: 1}, shadow(contactsNet()))
	end := func(a *gate.Allow, result string) {
		a.Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(result)})
	}
	first := p.allow("contacts")
	end(p.allow("contacts"), `["ann"]`)
	p.script(`send {"to":"ann"} -> `)
	if kept := p.Snapshot().Nets[0].Values.Len(); kept != 1 {
		t.Errorf("%d values are kept, of which the first call counts for none", kept)
	}
	end(first, `["ann"]`)
	p.script(`send {"to":"ann"} -> blocked ` + p.Nets()[0].Name)
	end(p.allow("contacts"), `["bob"]`) // ann makes room
	p.script(`send {"to":"bob"} -> `)
}

// TestShadowSpoilsAllValues checks that a call without a value spoils the evidence of all values in
// the world where it would have been made.
func TestShadowSpoilsAllValues(t *testing.T) {
	n := freshNet("test", "push", "edit")
	n.Key = []gate.Field{{Path: "path"}}
	p := play(t, gate.PolicyOptions{}, shadow(n))
	p.script(`test {"path":["a","b"]} -> `, `edit {} -> `)
	p.status(n.Name + " (active, shadow): ready:1; enforced: ready:1 for each path")
	p.script(`push {"path":"a"} -> blocked `+n.Name, `test {"path":"a"} -> `)
	edit := p.allow(`edit {}`).Ticket
	if got := p.Status(); !strings.Contains(got, "evidence spoiled by call") {
		t.Error(got)
	}
	p.script(`test {"path":"a"} -> `)
	edit.Settle(gate.Success)
	p.script(`push {"path":"a"} -> blocked `+n.Name, `test {"path":"a"} -> `, `push {"path":"a"} -> `)

	// The edit would not have been made, so the evidence is intact in one world.
	p = play(t, gate.PolicyOptions{Shadow: true}, n, blockNet("edit"))
	p.script(`test {"path":"a"} -> `, `edit {} -> blocked block-edit`)
	p.status(n.Name+" (active, shadow): ready:1; enforced: ready:1 for each path; a: ready:1; enforced: gate:1", "block-edit (active, shadow): ready:1; enforced: ready:1")
	p.script(`push {"path":"a"} -> `)
}
