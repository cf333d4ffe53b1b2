package replay_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/soak"
)

// standing is a net's state in the form that the test compares: without its key values, but with
// the marking for each of them.
func standing(n *gate.NetState) string {
	flights := func(list []gate.InFlight) (all []string) {
		for _, f := range list {
			all = append(all, fmt.Sprint(f.Transition, f.Name, f.Other))
		}
		slices.Sort(all)
		return all
	}
	values := []string{}
	for i := range n.Values {
		v := &n.Values[i]
		values = append(values, fmt.Sprint(v.Marking, v.Enforced, v.Spent, flights(v.InFlight), flights(v.Spoilers), v.Next))
	}
	slices.Sort(values)
	return fmt.Sprint(n.Name, n.Active, n.Marking, n.Enforced, n.Spent, flights(n.InFlight), flights(n.Spoilers), n.Next, values, n.More)
}

// truth holds the markings of a world's nets when its log had the given number of records.
type truth map[uint64]map[string][]string

func (w *world) note(of truth) {
	last, err := w.log.State()
	if err != nil {
		w.Fatal(err)
	}
	of[last] = map[string][]string{}
	for _, k := range w.keys {
		s, err := w.Snapshot(w.Context(), k)
		if err != nil { // the session ended with its last call, and begins again
			if err := w.Sessions.Open(w.Context(), admission.SessionInfo{Key: k, Since: w.now}); err != nil {
				w.Fatal(err)
			}
			continue
		}
		for _, n := range s.Policy().NetsOf(s) {
			of[last][k.Session] = append(of[last][k.Session], standing(&n))
		}
	}
}

// mend acts like an operator, or ends a session and begins it again.
func (w *world) mend(p *gate.Policy) {
	k, n := pick(w, w.keys...), pick(w, p.Nets()...)
	switch w.random.IntN(4) { // actions that are impossible now are skipped
	case 0:
		_ = w.Reset(w.Context(), k, "eve")
	case 1:
		_ = w.SwitchNet(w.Context(), n.Name, w.random.IntN(2) == 0, "eve")
	case 2:
		s, err := w.Snapshot(w.Context(), k)
		if err != nil {
			return
		}
		if open := s.Open(); len(open) > 0 {
			_ = w.SettleOpen(w.Context(), k, open[0].Number, w.random.IntN(2) == 0, "eve")
		}
	default:
		if w.random.IntN(4) > 0 {
			return
		}
		if w.Sessions.End(w.Context(), k) == nil {
			_ = w.Sessions.Open(w.Context(), admission.SessionInfo{Key: k, Since: w.now})
		}
	}
}

// rebuild compares a replay of the log with the truth, from the given record on. It returns the
// number of compared nets, and the number of nets that the records did not determine.
func rebuild(t *testing.T, path string, p *policy.Result, of truth, from uint64) (told, not int) {
	t.Helper()
	var r *replay.Replay
	active := p.Active
	for record, err := range trail.File(path).Records(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := record.Entry()
		if err != nil {
			t.Fatal(err)
		}
		if record.Seq < from {
			if strings.HasSuffix(e.Event, "activate") {
				active, _ = p.Policy.Switch(active, e.Net, e.Event == "activate")
			}
			continue
		}
		if r == nil {
			if r, err = replay.New(replay.Options{Policy: p.Policy, Active: active, Partial: from > 1}); err != nil {
				t.Fatal(err)
			}
		}
		r.Add(&record, &e)
		for session, nets := range of[record.Seq] {
			state, why := r.State(session, e.Time)
			if why != "" {
				not += len(nets)
				continue
			}
			for i, n := range state.Nets() {
				if state.Unknown[n.Name] != "" {
					not++
					continue
				}
				told++
				if got := standing(&n); got != nets[i] {
					t.Fatalf("from %d record %d, session %s:\n%s, want\n%s", from, record.Seq, session, got, nets[i])
				}
			}
		}
	}
	return told, not
}

// TestStates checks that if the records determine the markings of random policies, the markings are
// right.
func TestStates(t *testing.T) {
	seed, logs := soak.Range(t, 40)
	all := usable(t)
	told, not := 0, 0
	for n := range logs {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		p := build(t, source(random, all))
		w, of := newWorld(t, seed+uint64(n), p, []string{audit.Hash, audit.Full}[n%2]), truth{}
		for range 100 {
			w.step()
			if w.random.IntN(8) == 0 && len(p.Policy.Nets()) > 0 {
				w.mend(p.Policy)
			}
			w.note(of)
		}
		if err := w.log.Close(); err != nil {
			t.Fatal(err)
		}
		a, b := rebuild(t, w.path, p, of, 1)
		told, not = told+a, not+b
		rebuild(t, w.path, p, of, 30) // earlier records were not read
	}
	t.Logf("%d nets were told, %d not", told, not)
	if not*4 > told {
		t.Errorf("the records tell of %d nets where they stand, and of %d not", told, not)
	}
}

// TestStatesNotGuessed checks that no marking is returned for a session without its beginning or
// after a verdict that differs. A shared net needs the beginning of the process.
func TestStatesNotGuessed(t *testing.T) {
	p := ruled(t, "limit push to 2 per session\nlimit edit to 3 per user")
	path := logOf(t, p, audit.Hash, `push {}`, `edit {}`, `push {}`, `push {}`)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(line string) string
		want   string
	}{
		{"whole", func(l string) string { return l }, "limit-push-2:  limit-edit-3-per-user: "},
		{"no session", func(l string) string { return drop(l, `"session opened"`) }, "the session may have begun before"},
		{"no process", func(l string) string { return drop(l, `"event":"start"`) }, "limit-push-2:  limit-edit-3-per-user: the net is shared"},
		{"another verdict", func(l string) string {
			return strings.Replace(l, `"decision":"refuse","kind":"blocked"`, `"decision":"allow"`, 1)
		}, "differs from the recorded one"},
		{"another policy", func(l string) string {
			return strings.Replace(l, p.Policy.Fingerprint(), strings.Repeat("a", 64), 1)
		}, "under another policy"},
		{"a gap", func(l string) string {
			return strings.Replace(l, `"event":"outcome"`, `"event":"resumed"`, 1)
		}, "could not write records"},
	} {
		r, err := replay.New(replay.Options{Policy: p.Policy, Partial: c.name != "whole"})
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			l, err := audit.ParseLine(bytes.TrimRight(line, "\n"))
			if err != nil {
				t.Fatal(err)
			}
			record := trail.Record{Seq: l.Seq, Event: []byte(c.change(string(l.Event)))}
			if e, err := record.Entry(); err == nil && len(record.Event) > 0 {
				r.Add(&record, &e)
			}
		}
		state, got := r.State("s0", time.Now())
		if state != nil {
			for _, net := range state.Nets() {
				got += fmt.Sprintf("%s: %s ", net.Name, state.Unknown[net.Name])
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func drop(line, with string) string {
	if strings.Contains(line, with) {
		return ""
	}
	return line
}
