package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// TestCounterDropsEarlierPolicy checks that the counts for the previous policy are dropped, and
// that equal decisions are counted together.
func TestCounterDropsEarlierPolicy(t *testing.T) {
	tally := newCounter("")
	add := func(policy, tool, would string) {
		e := trail.Entry{Decision: audit.Decision{Policy: policy, Upstream: "s", Tool: tool}}
		if would != "" {
			e.Would = &audit.Would{Decision: would, Kind: "blocked", Nets: []audit.NetVerdict{{Net: "n", Rule: "a.rules:1:1"}}, Reason: "no " + tool}
		}
		tally.add(&e)
	}
	for range 3 {
		add("before", "rm", "refuse")
	}
	add("now", "read", "")
	add("now", "s.rm", "refuse")
	add("now", "rm", "refuse")
	add("now", "push", "ask")
	r := tally.counts()
	if tally.calls != 4 || r.Refused != 2 || r.Asked != 1 || len(r.Would) != 2 || r.Would[0].Count != 2 || r.Would[0].Tool != "s.rm" || fmt.Sprint(r.Would[1].Rules) != "[a.rules:1:1]" {
		t.Errorf("%+v", r)
	}
	for i := range 2 * maxRows {
		add("now", fmt.Sprint("tool", i), "refuse")
	}
	if r := tally.counts(); r.Refused != 2+2*maxRows || len(r.Would) != maxRows {
		t.Errorf("%d refused of %d kinds", r.Refused, len(r.Would))
	}
}

// TestRowsShowLastCall checks that a row shows the last call, escaped and on one line, if its
// arguments were recorded, and that otherwise the table has no such column.
func TestRowsShowLastCall(t *testing.T) {
	tally := newCounter("")
	table := func() string {
		var b strings.Builder
		if err := printVerdicts(&b, tally.counts().Would); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := table(); got != "" {
		t.Error(got)
	}
	add := func(tool, args string) {
		tally.add(&trail.Entry{Decision: audit.Decision{Tool: tool, Args: []byte(args), Would: &audit.Would{Decision: "refuse", Kind: "blocked", Reason: "no " + tool, Nets: []audit.NetVerdict{{Net: "n"}}}}})
	}
	add("Bash", "")
	add("rm", `{"path":"`+strings.Repeat("x", maxArguments)+`"}`)
	if got := table(); got != "TIMES  WOULD   TOOL  RULE OR NET  REASON\n1      refuse  Bash  n            no Bash\n1      refuse  rm    n            no rm\n" {
		t.Error(got)
	}
	add("Bash", `{"command":"git push \u0026\u0026\necho \u001b[2J`+strings.Repeat("x", maxLastCall)+`"}`)
	want := "2      refuse  Bash  git push &&\\u{a}echo \\u{1b}[2J" + strings.Repeat("x", maxLastCall-21) + "...  n            no Bash\n"
	if got := table(); !strings.HasPrefix(got, "TIMES  WOULD   TOOL  LAST CALL  ") || !strings.Contains(got, want) || !strings.Contains(got, "rm    -  ") {
		t.Error(got)
	}
}

// TestMissingRecordIsToldApart checks that a configuration without a log is distinguished from a
// log that cannot be read.
func TestMissingRecordIsToldApart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "petrigate.yaml")
	for text, none := range map[string]bool{
		"version: 1\nstate: { driver: memory }\n":                              true,
		"version: 1\nstate: { driver: memory }\naudit: { file: gone.jsonl }\n": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Options{Path: file})
		if err != nil {
			t.Fatal(err)
		}
		_, err = readRecord(context.Background(), c, func(int) {})
		if err == nil || errors.Is(err, daemon.ErrNoAuditLog) != none {
			t.Errorf("%s: %v", text, err)
		}
	}
}
