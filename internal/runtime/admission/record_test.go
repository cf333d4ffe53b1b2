package admission_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// keyedNets: edits of each path are limited to one, payments to ten in total, equal calls in a row
// are limited, and a validator reads the arguments of run.
func keyedNets() []gate.Net {
	return []gate.Net{{
		Name: "edits", Places: []string{"p", "q"}, Initial: map[string]int{"p": 1}, Reason: "{key} was edited.", Key: []gate.Field{{Path: "path"}},
		Transitions: []gate.Transition{{Name: "edit", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: gate.Tools("edit")}},
	}, {
		Name: "pays", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Sum: &gate.Sum{Field: gate.Field{Path: "eur"}, Most: 10},
		Transitions: []gate.Transition{{Name: "pay", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("pay")}},
	}, {
		Name: "rows", Places: []string{"p", "q"}, Initial: map[string]int{"p": 9}, Row: true,
		Transitions: []gate.Transition{{Name: "any", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: gate.Tools("edit", "pay", "run")}},
	}, {
		Name: "runs", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Identity: "1",
		Transitions: []gate.Transition{{Name: "run", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("run")}},
		Validate: func(f gate.Firing) error {
			if strings.Contains(string(f.Call.Args), "rm") {
				return errors.New("no: " + string(f.Call.Args))
			}
			return nil
		},
	}, {
		Name: "made", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Key: []gate.Field{{Path: "id", Result: true}},
		Transitions: []gate.Transition{{Name: "make", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("make"), Observe: true, Deferred: true}},
	}}
}

func keyedDesk(t *testing.T, redactor *audit.Redactor) *fixture {
	return newFixture(t, func(o *admission.Options) {
		p := policyOf(t, keyedNets()...)
		o.Generation, o.Redactor, o.Process = admission.NewGeneration(p, nil), redactor, "p1"
		if _, err := o.Ledger.Adopt(t.Context(), admission.Adoption{Policy: p}); err != nil {
			t.Fatal(err)
		}
	})
}

// last returns the last decision on record.
func (d *fixture) last() (r audit.Decision) {
	d.Helper()
	if err := json.Unmarshal([]byte(d.disk.lines[len(d.disk.lines)-1]), &r); err != nil {
		d.Fatal(err)
	}
	return r
}

func (d *fixture) with(tool, args string) *admission.Call {
	c := d.call(tool)
	c.Gate.Args = []byte(args)
	return c
}

// TestHashedArguments: by default a record contains only hashes of the arguments and the values needed to
// repeat the decision.
func TestHashedArguments(t *testing.T) {
	d := keyedDesk(t, nil)
	d.Decide(t.Context(), d.with("edit", `{"path":"/home/ann"}`))
	r := d.last()
	want := audit.Value{Field: "path", Hashes: []string{audit.HashOf(`"/home/ann"`)}}
	if r.Decision != "allow" || len(r.Values) != 1 || r.Values[0].Hashes[0] != want.Hashes[0] || r.Args != nil || len(r.Row) != 64 || r.Own != 0 || !slices.Equal(r.Names, []string{"edit"}) {
		t.Errorf("%+v", r)
	}
	d.Decide(t.Context(), d.with("edit", `{"path":"/home/ann"}`))
	r = d.last()
	if short := audit.HashOf(`"/home/ann"`)[:8]; r.Decision != "refuse" || r.Kind != "blocked" || r.Reason != "#"+short+" was edited." || len(r.Nets) != 2 || r.Nets[0].Verdict != "blocked" || r.Nets[1].Verdict != "gated" {
		t.Errorf("%+v", r)
	}
	d.Decide(t.Context(), d.with("pay", `{"eur":2.50}`))
	if r = d.last(); len(r.Values) != 1 || r.Values[0].Amount != "2.50" {
		t.Errorf("%+v", r)
	}
	d.Decide(t.Context(), d.with("run", `{"sh":"rm x"}`))
	if r = d.last(); r.Kind != "validation" || r.Reason != "A validator rejects the arguments." || !slices.Equal(r.Reads, []string{"runs"}) || r.Nets[1].Verdict != "blocked" {
		t.Errorf("%+v", r)
	}
	made := d.Decide(t.Context(), d.with("make", `{}`)).(*admission.Admitted)
	d.Settle(t.Context(), &made.Ticket, gate.End{Outcome: gate.Success, Result: []byte(`{"id":7}`)}, "")
	if line := d.disk.lines[len(d.disk.lines)-1]; !strings.Contains(line, `"values":[{"field":"id","sha256":["`+audit.HashOf("7")+`"]}]`) {
		t.Error(line)
	}
	for _, line := range d.disk.lines {
		if strings.Contains(line, "ann\"}") || strings.Contains(line, "/home") || strings.Contains(line, "rm x") {
			t.Errorf("it has arguments: %s", line)
		}
	}
}

// TestFullArguments: with "full" a record contains the arguments and the text for the client.
func TestFullArguments(t *testing.T) {
	r, err := audit.NewRedactor(audit.Full, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := keyedDesk(t, r)
	for range 2 {
		d.Decide(t.Context(), d.with("edit", `{"path":"/home/ann"}`))
	}
	if r := d.last(); string(r.Args) != `{"path":"/home/ann"}` || r.Reason != "/home/ann was edited." {
		t.Errorf("%+v", r)
	}
}

// TestWordsOfCalls: a refusal begins with the words of the call. Logs and records omit these words,
// unless records contain the arguments. The counts of nets in shadow have the sentence without
// these words, and the recorded arguments beside it.
func TestWordsOfCalls(t *testing.T) {
	full, err := audit.NewRedactor(audit.Full, nil)
	if err != nil {
		t.Fatal(err)
	}
	const whole, short = "Write `/home/ann` (secret) is blocked.", "Write (secret) is blocked."
	for want, redactor := range map[string]*audit.Redactor{short: nil, whole: full} {
		for _, shadow := range []bool{false, true} {
			var logged strings.Builder
			d := newFixture(t, func(o *admission.Options) {
				maps := &gate.Labels{Maps: []gate.Map{{Tool: "Write", Field: "path", As: "secret", Match: func(string) bool { return true }}}}
				p, err := gate.NewPolicy([]gate.Net{{
					Name: "secrets", Places: []string{"none"}, Cause: gate.CauseBlock, Reason: "secret is blocked.", Shadow: shadow, Labels: maps,
					Transitions: []gate.Transition{{Name: "t", Inputs: []string{"none"}, Outputs: []string{"none"}, Tools: gate.Tools("secret")}},
				}}, gate.PolicyOptions{Labels: []*gate.Labels{maps}})
				if err != nil {
					t.Fatal(err)
				}
				o.Generation, o.Redactor, o.Process = admission.NewGeneration(p, nil), redactor, "p1"
				o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
				if _, err := o.Ledger.Adopt(t.Context(), admission.Adoption{Policy: p}); err != nil {
					t.Fatal(err)
				}
			})
			decided := d.Decide(t.Context(), d.with("Write", `{"path":"/home/ann"}`))
			got := d.last().Reason
			if shadow {
				got = d.last().Would.Reason
				args := ""
				if redactor != nil {
					args = `{"path":"/home/ann"}`
				}
				if w := d.Counts("").Would; len(w) != 1 || w[0].Reason != short || string(w[0].Arguments) != args {
					t.Errorf("counted: %+v", w)
				}
			} else if r, ok := decided.(*admission.Refused); !ok || r.Text != whole {
				t.Errorf("%+v, want %s", decided, whole)
			}
			if got != want || strings.Contains(logged.String(), "ann") || !strings.Contains(logged.String(), short) {
				t.Errorf("on record is %q, want %q; in the log %s", got, want, &logged)
			}
		}
	}
}

// TestRecordedNames: a record marks the names of the tool itself and the uncertain names, and the number of
// names is bounded.
func TestRecordedNames(t *testing.T) {
	d := keyedDesk(t, nil)
	c := d.with("edit", `{"path":1}`)
	c.Gate.Also = []gate.Name{{Text: "a", Certain: true}, {Text: "b", Weak: true}}
	d.Decide(t.Context(), c)
	if r := d.last(); r.Own != 3 || !slices.Equal(r.Names, []string{"edit", "a", "b"}) || !slices.Equal(r.Uncertain, []string{"b"}) || !slices.Equal(r.Weak, []string{"b"}) {
		t.Errorf("%+v", r)
	}
	for i := range 100 {
		c.Gate.Also = append(c.Gate.Also, gate.Name{Text: strings.Repeat("n", i+1), Certain: true})
	}
	d.Decide(t.Context(), c)
	if r := d.last(); len(r.Names)+r.Omitted != 103 || r.Omitted == 0 {
		t.Errorf("%d names and %d", len(r.Names), r.Omitted)
	}
}

// TestAskedOnRecord: a call that waits for approval is on record with its names.
func TestAskedOnRecord(t *testing.T) {
	d := newFixture(t, nil)
	d.Refused(t.Context(), d.call("deploy"), &admission.Refused{Text: "wait", Facts: admission.Facts{Decision: "ask", Kind: "approval", Approval: "x"}})
	if r := d.last(); r.Decision != "ask" || !slices.Equal(r.Names, []string{"deploy"}) || r.Approval != "x" {
		t.Errorf("%+v", r)
	}
}

// TestSessionOnRecord: the beginning and the end of a session are on record; if that fails, its
// calls are refused.
func TestSessionOnRecord(t *testing.T) {
	d := keyedDesk(t, nil)
	k := admission.Key{Session: "t", Principal: "bob"}
	if err := d.Sessions.Open(t.Context(), admission.SessionInfo{Key: k, Since: now}); err != nil {
		t.Fatal(err)
	}
	if err := d.Sessions.End(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"time":"2026-01-02T03:04:05Z","event":"session opened","session":"t","principal":"bob","process":"p1"}`,
		`{"time":"2026-01-02T03:04:05Z","event":"session closed","session":"t","principal":"bob","process":"p1"}`,
	}
	if !slices.Equal(d.disk.lines, want) {
		t.Errorf("%q", d.disk.lines)
	}
	d.disk.full = true
	if err := d.Sessions.Open(t.Context(), admission.SessionInfo{Key: k, Since: now}); err != nil {
		t.Fatal(err)
	}
	c := d.call("edit")
	c.Key = k
	if _, ok := d.Decide(t.Context(), c).(*admission.Refused); !ok {
		t.Error("a call passes off the record")
	}
}

// TestFirstRecords: the first records of a process are its start and the policy in force.
func TestFirstRecords(t *testing.T) {
	d := keyedDesk(t, nil)
	d.Begin(t.Context(), audit.Process{Driver: "memory", Version: "1"})
	d.Finish(t.Context())
	if len(d.disk.lines) != 3 || d.disk.lines[0] != `{"time":"2026-01-02T03:04:05Z","event":"start","process":"p1","version":"1","driver":"memory"}` ||
		d.disk.lines[2] != `{"time":"2026-01-02T03:04:05Z","event":"end","process":"p1"}` {
		t.Errorf("%q", d.disk.lines)
	}
	var p audit.Policy
	if err := json.Unmarshal([]byte(d.disk.lines[1]), &p); err != nil || p.Policy != d.Generation().Fingerprint || !slices.Equal(p.Fields, []string{"path", "eur"}) || !slices.Equal(p.Results, []string{"id"}) || !p.Rows || p.Arguments != "hash" {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestShownValue: a value is replaced only where it is not part of a longer word.
func TestShownValue(t *testing.T) {
	d := keyedDesk(t, nil)
	for range 2 {
		d.Decide(t.Context(), d.with("edit", `{"path":"edit"}`))
	}
	if r := d.last(); r.Reason != "#"+audit.HashOf(`"edit"`)[:8]+" was edited." {
		t.Error(r.Reason)
	}
	if got := reading.Format(nil); got != "" {
		t.Error(got)
	}
}
