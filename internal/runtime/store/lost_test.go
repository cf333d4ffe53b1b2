package store

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// TestLostCallsOfEndedProcess: two processes have calls in a session and one ends: only its calls
// are lost.
func TestLostCallsOfEndedProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "db")
	p, err := gate.NewPolicy(nil, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := admission.Key{Session: "lasting", Principal: "ann"}
	begun := time.Now()
	admit := func(d *Durable, session string) {
		t.Helper()
		k := admission.Key{Session: session, Principal: "ann"}
		if err := d.Open(t.Context(), admission.SessionInfo{Key: k, Since: begun, Lasting: true}); err != nil {
			t.Fatal(err)
		}
		if err := admission.Update(t.Context(), d, k, func(s *gate.State) (admission.Change, error) {
			allow, delta := s.Policy().Decide(s, gate.Call{Tool: "x", Time: time.Now()}, nil)
			event := &audit.Decision{Time: time.Now(), Event: "decision", Session: session, Call: allow.(*gate.Allow).Ticket.Number}
			return admission.Change{Delta: delta, Events: []audit.Event{event}, Admits: true}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	a, b := process(t, path, p), process(t, path, p)
	admit(a, k.Session)
	admit(b, k.Session)
	admit(a, k.Session)
	admit(a, "another")
	lost := func(want ...string) {
		t.Helper()
		all, err := b.LostCalls(t.Context())
		var got []string
		for _, c := range all {
			if got = append(got, fmt.Sprint(c.Session, " ", c.Call)); c.Process != a.database.Writer() || c.Tool != "x" || c.Since.Before(begun) {
				t.Errorf("%+v", c)
			}
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		if err := b.View(t.Context(), k, func(*gate.State) {}); err != nil {
			t.Fatal(err)
		}
		of, err := b.LostCallsOf(t.Context(), k)
		if n := strings.Count(strings.Join(want, ","), k.Session); err != nil || len(of) != n {
			t.Errorf("%v, %v, want %d of the session", of, err, n)
		}
	}
	listed := func() {
		t.Helper()
		for s, err := range b.Sessions(t.Context()) {
			if err != nil || s.Open != map[string]int{"lasting": 3, "another": 1}[s.Session] {
				t.Errorf("%+v, %v", s, err)
			}
		}
	}
	pass(t, a, beatInterval)
	pass(t, b, 2*beatInterval)
	lost()
	listed()
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	listed()
	lost("another 1", "lasting 1", "lasting 3")
	info, err := b.Find(t.Context(), "another")
	if err != nil || len(info.Calls) != 1 || !info.Calls[0].Unknown {
		t.Errorf("%+v, %v", info, err)
	}
	older := backend.PartID{Scope: processScope, Name: "older"}
	put(t, b.database, backend.Write{ID: older, Data: []byte("1764000000")}) // the heartbeat of an older version
	unnamed(t, b.database, "another")
	lost("lasting 1", "lasting 3")
	put(t, b.database, backend.Write{ID: older, Version: 1}) // the older process has ended
	all, err := b.LostCalls(t.Context())
	if err != nil || len(all) != 3 || !slices.ContainsFunc(all, func(c LostCall) bool { return c.Session == "another" && c.Process == "" }) {
		t.Errorf("%+v, %v", all, err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// unnamed writes a session as older versions did, without the process of each call.
func unnamed(t *testing.T, b backend.Backend, session string) {
	t.Helper()
	parts, err := b.Load(t.Context(), sessionID(session))
	if err != nil {
		t.Fatal(err)
	}
	data := regexp.MustCompile(`,"process":"[^"]*"`).ReplaceAll(parts[0].Data, nil)
	data = bytes.Replace(data, []byte(`{"v":2`), []byte(`{"v":1`), 1)
	if bytes.Equal(data, parts[0].Data) {
		t.Fatal(string(data))
	}
	put(t, b, backend.Write{ID: parts[0].ID, Version: parts[0].Version, Data: data})
}

func put(t *testing.T, b backend.Backend, w backend.Write) {
	t.Helper()
	op := &backend.Op{Writes: []backend.Write{w}, Time: time.Now()}
	if err := b.Commit(t.Context(), []*backend.Op{op}); err != nil || op.Err != nil {
		t.Fatal(err, op.Err)
	}
}
