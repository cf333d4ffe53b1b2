package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

// disk stores records until it is full, and counts its writes.
type disk struct {
	full    func() bool
	mu      sync.Mutex
	writes  int
	records []string
}

func (d *disk) Append(record []byte) error { return d.AppendAll([][]byte{record}) }

func (d *disk) AppendAll(records [][]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	if d.full != nil && d.full() {
		return errors.New("no space left")
	}
	for _, r := range records {
		d.records = append(d.records, string(r))
	}
	return nil
}

// each stores records one by one.
type each struct{ *disk }

func (each) AppendAll() {} // hides the method of disk, so that records are stored one by one

func recorded(t *testing.T, p *gate.Policy, out audit.Storage, keys ...admission.Key) *store.Memory {
	t.Helper()
	m := store.NewMemory(p, nil, nil, audit.NewRecorder(out, time.Now))
	for _, k := range keys {
		if err := m.Open(t.Context(), admission.SessionInfo{Key: k, Since: start}); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// stage stages a step of a session with an event that contains its name.
func stage(t testing.TB, m *store.Memory, k admission.Key, name string, f func(*gate.State) *gate.Delta) (admission.Commit, error) {
	t.Helper()
	return m.Stage(t.Context(), k, func(s *gate.State) (admission.Change, error) {
		return admission.Change{Delta: f(s), Events: []audit.Event{audit.Task{Tool: name}}}, nil
	})
}

func call(tool string) func(*gate.State) *gate.Delta {
	return func(s *gate.State) *gate.Delta {
		_, d := s.Policy().Decide(s, gate.Call{Tool: tool, ID: tool, Time: start}, nil)
		return d
	}
}

func settle(number uint64, o gate.Outcome) func(*gate.State) *gate.Delta {
	return func(s *gate.State) *gate.Delta { return s.Policy().SettleAt(s, number, o, start) }
}

func snapshot(t *testing.T, m *store.Memory, k admission.Key) (c *gate.State) {
	t.Helper()
	if err := m.View(t.Context(), k, func(s *gate.State) { c = s.Clone() }); err != nil {
		t.Fatal(err)
	}
	return c
}

func ruled(t *testing.T) *gate.Policy {
	backup := gate.Net{
		Name: "backup", Places: []string{"ready", "saved"}, Initial: map[string]int{"ready": 1}, Cause: gate.CauseSequence, Reason: "delete requires a backup.",
		Transitions: []gate.Transition{
			{Name: "backup", Inputs: []string{"ready"}, Outputs: []string{"saved"}, Tools: gate.Tools("backup"), Deferred: true},
			{Name: "delete", Inputs: []string{"saved"}, Outputs: []string{"ready"}, Tools: gate.Tools("delete")},
		},
	}
	deploys := gate.Net{
		Name: "deploys", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Cause: gate.CauseApproval,
		Transitions: []gate.Transition{{Name: "deploy", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("deploy"), Manual: true}},
	}
	shadow := gate.Net{
		Name: "shadow", Places: []string{"none"}, Cause: gate.CauseBlock, Shadow: true, Reason: "odd is blocked.",
		Transitions: []gate.Transition{{Name: "odd", Inputs: []string{"none"}, Outputs: []string{"none"}, Tools: gate.Tools("odd")}},
	}
	return policyOf(t, backup, deploys, shadow, limit("all", 3, gate.ScopeGlobal), limit("shared", 2, gate.ScopePrincipal), limit("own", 2, gate.ScopeSession))
}

// TestConcurrentStepsShareWrite: concurrent steps share one write, in their order; the first waiter writes for all.
func TestConcurrentStepsShareWrite(t *testing.T) {
	d, k := &disk{}, admission.Key{Session: "1", Principal: "ann"}
	m := recorded(t, ruled(t), d, k)
	var commits []admission.Commit
	for _, tool := range []string{"own", "backup", "all"} {
		c, err := stage(t, m, k, tool, call(tool))
		if err != nil || c == nil {
			t.Fatal(c, err)
		}
		commits = append(commits, c)
	}
	said, err := m.Append(t.Context(), audit.Task{Tool: "said"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(commits, said) {
		if err := c.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if d.writes != 1 || len(d.records) != 4 || !strings.Contains(d.records[1], `"backup"`) || !strings.Contains(d.records[3], `"said"`) {
		t.Errorf("%d writes of %q", d.writes, d.records)
	}
}

// same reports whether two states are equal, including the states of their nets. An empty map
// equals a nil map.
func same(a, b *gate.State) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }

// TestFailedBatchRestoresStates: if a batch cannot be written, all sessions have exactly their earlier states, whatever
// the steps changed.
func TestFailedBatchRestoresStates(t *testing.T) {
	ann, bob := admission.Key{Session: "1", Principal: "ann"}, admission.Key{Session: "2", Principal: "bob"}
	for name, alone := range map[string]bool{"together": false, "one by one": true} {
		t.Run(name, func(t *testing.T) {
			d := &disk{}
			var out audit.Storage = d
			if alone {
				out = each{d}
			}
			m := recorded(t, ruled(t), out, ann, bob)
			commit := func(steps ...func() (admission.Commit, error)) (failed int) {
				var all []admission.Commit
				for _, s := range steps {
					c, err := s()
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, c)
				}
				for _, c := range all {
					if c != nil && c.Wait(t.Context()) != nil {
						failed++
					}
				}
				return failed
			}
			step := func(k admission.Key, name string, f func(*gate.State) *gate.Delta) func() (admission.Commit, error) {
				return func() (admission.Commit, error) { return stage(t, m, k, name, f) }
			}
			if failed := commit(step(ann, "before", call("backup")), step(ann, "before", call("all")), step(bob, "before", call("deploy"))); failed != 0 {
				t.Fatal(failed)
			}
			before := [2]*gate.State{snapshot(t, m, ann), snapshot(t, m, bob)}
			d.full = func() bool { return true }
			steps := []func() (admission.Commit, error){
				step(ann, "settle", settle(1, gate.Success)), step(ann, "delete", call("delete")), step(bob, "all", call("all")),
				step(ann, "unknown", settle(2, gate.Unknown)), step(ann, "odd", call("odd")), step(ann, "asks", call("deploy")),
				step(bob, "withdraw", func(s *gate.State) *gate.Delta { return &gate.Delta{Answered: 1} }), step(bob, "all", call("all")),
				step(ann, "reset", func(s *gate.State) *gate.Delta { return s.Policy().Reset(s) }),
				step(ann, "tools", func(*gate.State) *gate.Delta { return &gate.Delta{Tools: []gate.Call{{Tool: "x"}}, Spent: 7} }),
			}
			if failed := commit(steps...); failed != len(steps) {
				t.Errorf("%d of %d steps failed", failed, len(steps))
			}
			for i, k := range []admission.Key{ann, bob} {
				if after := snapshot(t, m, k); !same(after, before[i]) {
					t.Errorf("session %s: %+v\nwas %+v", k.Session, after, before[i])
				}
			}
			d.full = nil
			if failed := commit(steps...); failed != 0 {
				t.Errorf("%d steps failed though there is room", failed)
			}
		})
	}
}

// TestFailedReplacementRestoresCalls: if the record that one call replaces another cannot be
// written, both are open again.
func TestFailedReplacementRestoresCalls(t *testing.T) {
	d, k := &disk{}, admission.Key{Session: "1"}
	m := recorded(t, ruled(t), d, k)
	do := func(name string, f func(*gate.State) *gate.Delta) error {
		c, err := stage(t, m, k, name, f)
		if err != nil {
			return err
		}
		return c.Wait(t.Context())
	}
	last := uint64(0)
	for range 17 { // more calls than the state distinguishes
		anonymous := func(s *gate.State) *gate.Delta {
			_, d := s.Policy().Decide(s, gate.Call{Tool: "other", Time: start}, nil)
			return d
		}
		if err := do("call", anonymous); err != nil {
			t.Fatal(err)
		}
		last = snapshot(t, m, k).Last
		if d.full = func() bool { return last == 17 }; do("unknown", settle(last, gate.Unknown)) != nil != (last == 17) {
			t.Fatalf("call %d", last)
		}
	}
	if s := snapshot(t, m, k); len(s.Calls) != 17 || s.Calls[1].More != 0 || s.Calls[last].Unknown {
		t.Errorf("%+v", s.Open())
	}
	d.full = nil
	if err := do("unknown", settle(last, gate.Unknown)); err != nil {
		t.Fatal(err)
	}
	if s := snapshot(t, m, k); len(s.Calls) != 16 || s.Calls[1].More != 1 || s.Calls[last] != nil {
		t.Errorf("%+v", s.Open())
	}
}

// TestStepWithoutRecordsWaits: a step without a record waits for the steps before it, since it is
// undone with them.
func TestStepWithoutRecordsWaits(t *testing.T) {
	d, k := &disk{}, admission.Key{Session: "1"}
	m := recorded(t, ruled(t), d, k)
	silent := func() (admission.Commit, error) {
		return m.Stage(t.Context(), k, func(s *gate.State) (admission.Change, error) { return admission.Change{Delta: call("own")(s)}, nil })
	}
	if c, err := silent(); c != nil || err != nil {
		t.Fatal(c, err)
	}
	before := snapshot(t, m, k)
	first, err := stage(t, m, k, "all", call("all"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := silent()
	if err != nil || second == nil {
		t.Fatal(second, err)
	}
	d.full = func() bool { return true }
	if first.Wait(t.Context()) == nil || second.Wait(t.Context()) == nil {
		t.Error("they were written")
	}
	if after := snapshot(t, m, k); !same(after, before) {
		t.Errorf("%+v\nwas %+v", after, before)
	}
}

// TestBudgetUnderFailures: sessions share a budget while some writes fail: the budget used equals
// the budget on record, and each session has the results that were reported to it.
func TestBudgetUnderFailures(t *testing.T) {
	const sessions, calls, budget = 8, 150, 400
	p := policyOf(t, limit("all", budget, gate.ScopeGlobal), limit("shared", budget, gate.ScopePrincipal))
	d := &disk{full: func() bool { return rand.IntN(5) == 0 }}
	var keys []admission.Key
	for i := range sessions {
		keys = append(keys, admission.Key{Session: fmt.Sprint(i), Principal: fmt.Sprint(i % 2)})
	}
	m := recorded(t, p, d, keys...)
	var passed [2]atomic.Int64
	var all sync.WaitGroup
	for _, k := range keys {
		all.Go(func() {
			for i := range calls {
				tool := i % 2
				allowed := false
				err := admission.Update(context.Background(), m, k, func(s *gate.State) (admission.Change, error) {
					decision, delta := s.Policy().Decide(s, gate.Call{Tool: []string{"all", "shared"}[tool]}, nil)
					if _, allowed = decision.(*gate.Allow); !allowed {
						return admission.Change{Delta: delta}, nil
					}
					return admission.Change{Delta: delta, Events: []audit.Event{audit.Task{Tool: "x"}}}, nil
				})
				if allowed && err == nil {
					passed[tool].Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := passed[0].Load() + passed[1].Load(); int(n) != len(d.records) || n == 0 {
		t.Errorf("%d calls passed, %d are on record", n, len(d.records))
	}
	spent := int64(0)
	for i, principal := range []string{"0", "1"} {
		if err := m.View(t.Context(), admission.Key{Principal: principal}, func(s *gate.State) {
			for _, n := range p.NetsOf(s) {
				if n.Name == "shared" {
					spent += int64(count(n.Marking, "spent"))
				} else if got := int64(count(n.Marking, "spent")); i == 0 && got != passed[0].Load() {
					t.Errorf("%d of all are spent, %d passed", got, passed[0].Load())
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if spent != passed[1].Load() {
		t.Errorf("%d of shared are spent, %d passed", spent, passed[1].Load())
	}
}

func count(m gate.Marking, place string) (n int) {
	for _, tokens := range m {
		if tokens.Place == place {
			n += tokens.Count
		}
	}
	return n
}

// TestFullQueueCommitsFirst: a caller that finds the queue full writes the waiting steps.
func TestFullQueueCommitsFirst(t *testing.T) {
	d, k := &disk{}, admission.Key{Session: "1"}
	m := recorded(t, ruled(t), d, k)
	for range 3000 {
		if _, err := stage(t, m, k, "x", func(*gate.State) *gate.Delta { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.records); n < 2000 || n > 2999 {
		t.Errorf("%d records are written", n)
	}
}

// TestEndedSessionStaysUntilOutcomeRecorded: a session that ends is not forgotten until the outcome
// of its last call is on record.
func TestEndedSessionStaysUntilOutcomeRecorded(t *testing.T) {
	d, k := &disk{}, admission.Key{Session: "1"}
	m := recorded(t, ruled(t), d, k)
	if c, err := stage(t, m, k, "all", call("all")); err != nil || c.Wait(t.Context()) != nil {
		t.Fatal(err)
	}
	d.full = func() bool { return true }
	if _, err := stage(t, m, k, "all", settle(1, gate.Success)); err != nil {
		t.Fatal(err)
	}
	if err := m.End(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if s := snapshot(t, m, k); len(s.Calls) != 1 {
		t.Error("the call is forgotten")
	}
	d.full = nil
	c, err := stage(t, m, k, "all", settle(1, gate.Success))
	if err != nil || c.Wait(t.Context()) != nil {
		t.Fatal(err)
	}
	if err := m.View(t.Context(), k, func(*gate.State) {}); !errors.Is(err, admission.ErrNoSession) {
		t.Errorf("%v: it is kept", err)
	}
}
