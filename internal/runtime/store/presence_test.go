package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
)

// pass advances the clock of a process, which then writes its heartbeat.
func pass(t *testing.T, d *Durable, by time.Duration) {
	t.Helper()
	p := d.presence
	p.last = p.last.Add(-by)
	for name, seen := range p.seen {
		seen.at = seen.at.Add(-by)
		p.seen[name] = seen
	}
	if err := d.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// process opens another process with the database at path.
func process(t *testing.T, path string, p *gate.Policy) *Durable {
	t.Helper()
	b, err := journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	d := NewDurable(t.Context(), DurableOptions{Backend: b, Policy: p})
	return d
}

// TestEndedProcessSessionsAreRemoved: the sessions of an ended process are removed, except those
// with open calls and those that outlive processes. A process that was only unreachable comes back.
func TestEndedProcessSessionsAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "db")
	p, err := gate.NewPolicy([]gate.Net{{Name: "n", Places: []string{"p"}, Initial: map[string]int{"p": 9},
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"p"}, Tools: gate.Tools("x")}}}}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	call := func(d *Durable, session string, o gate.Outcome) {
		t.Helper()
		k := admission.Key{Session: session, Principal: "ann"}
		if err := d.Open(t.Context(), admission.SessionInfo{Key: k, Since: time.Now(), Lasting: session == "lasting"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := admission.Update(t.Context(), d, k, func(s *gate.State) (admission.Change, error) {
				if open := s.Open(); len(open) > 0 {
					return admission.Change{Delta: s.Policy().Settle(s, open[0].Number, o)}, nil
				}
				_, delta := s.Policy().Decide(s, gate.Call{Tool: "x"}, nil)
				return admission.Change{Delta: delta, Admits: true}, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, b := process(t, path, p), process(t, path, p)
	call(a, "over", gate.Success)
	call(a, "open", gate.Unknown)
	call(a, "lasting", gate.Success)
	call(b, "own", gate.Success)
	listed := func(want string) {
		t.Helper()
		var got string
		for s, err := range b.Sessions(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got += s.Session
			if s.Process != "" {
				got += "@"
			}
			if s.Gone {
				got += "!"
			}
			got += " "
		}
		if got != want {
			t.Errorf("the sessions are %s, want %s", got, want)
		}
	}
	listed("over@ open@ lasting own ")
	pass(t, b, 2*beatInterval)
	pass(t, b, beatTimeout/2)
	pass(t, a, beatTimeout/2) // it has written its heartbeat
	pass(t, b, beatTimeout)
	listed("over@ open@ lasting own ")
	pass(t, b, 2*beatTimeout) // to this process, the other process seems to have been away
	listed("open@! lasting own ")
	pass(t, a, beatInterval)
	pass(t, a, beatInterval)
	listed("open@ lasting own ")
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	listed("open@! lasting own ")
	if parts, err := b.database.Load(t.Context(), backend.PartID{Scope: processScope, Name: a.database.Writer()}); err != nil || parts[0].Version != 0 {
		t.Errorf("%+v, %v", parts, err)
	}
}
