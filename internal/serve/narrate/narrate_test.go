package narrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)

// bare returns the printed lines without timestamps.
func bare(told string) (lines []string) {
	for line := range strings.Lines(told) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		lines = append(lines, rest)
	}
	return lines
}

func record(t *testing.T, e audit.Event) []byte {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func allow(call uint64) audit.Decision {
	return audit.Decision{Time: noon, Event: "decision", Session: "s", Principal: "ann", Client: "cursor", Call: call, Upstream: "files", Tool: "files.read", Decision: "allow"}
}

func refuse(reason string, nets ...audit.NetVerdict) audit.Decision {
	return audit.Decision{Time: noon, Event: "decision", Session: "s", Principal: "ann", Client: "cursor", Upstream: "files", Tool: "files.edit", Decision: "refuse", Kind: "blocked", Reason: reason, Nets: nets}
}

func outcome(call uint64, how string, ms float64) audit.Outcome {
	return audit.Outcome{Time: noon, Event: "outcome", Session: "s", Call: call, Tool: "files.read", Outcome: how, Millis: ms}
}

func blocked(rule string) audit.NetVerdict {
	return audit.NetVerdict{Net: "n", Verdict: "blocked", Rule: rule}
}

// TestLinesOfRecords checks the lines printed for records.
func TestLinesOfRecords(t *testing.T) {
	shadowed := allow(1)
	shadowed.Would = &audit.Would{Decision: "refuse", Reason: "read is blocked and cannot be called. Ask.", Nets: []audit.NetVerdict{blocked("a.rules:2")}}
	foreign := refuse("evil\x1b[2J\nis blocked.")
	foreign.Tool, foreign.Upstream = "ev\u202eil", ""
	ask := audit.Decision{Time: noon, Event: "decision", Upstream: "ops", Tool: "deploy", Principal: "ann", Client: "cursor", Decision: "ask", Kind: "approval", Approval: "ap_1", Nets: []audit.NetVerdict{blocked("a.rules:3")}}
	denied := ask
	denied.Time, denied.Decision, denied.Nets, denied.Channel, denied.Actor, denied.Reason = noon.Add(2*time.Second), "refuse", nil, "web", "ann", "A person denied it."
	wide := refuse("No.")
	wide.Tool = "files.a_tool_of_a_longer_name"
	by := outcome(1, "unknown", 61_000)
	by.By = "timeout"
	for _, c := range []struct {
		name   string
		events []audit.Event
		want   []string
	}{
		{"a call that passes is told once", []audit.Event{allow(1), outcome(1, "success", 11.2)}, []string{"pass files.read                12ms  ann (client cursor)"}},
		{"one under way is not told yet", []audit.Event{allow(1)}, nil},
		{"one that fails", []audit.Event{allow(1), outcome(1, "failure", 3)}, []string{"fail files.read                3ms  ann (client cursor)"}},
		{"of which nothing is known", []audit.Event{allow(1), by}, []string{"fail files.read                1m1s  ann (client cursor)  its outcome is unknown  by timeout"}},
		{"an outcome without its decision", []audit.Event{outcome(7, "success", 3)}, []string{"pass files.read                3ms"}},
		{"in shadow", []audit.Event{shadowed, outcome(1, "success", 3)}, []string{"pass files.read                3ms  ann (client cursor)  in shadow: refuse, is blocked and cannot be called (a.rules:2)"}},
		{"refused, by the first sentence and the rule", []audit.Event{refuse("edit requires read first. Way out: call read.", blocked("a.rules:1"))},
			[]string{"stop files.edit                requires read first (a.rules:1)"}},
		{"rules are named once", []audit.Event{refuse("Refused by a.rules:1.", blocked("a.rules:1"), blocked("b.rules:1"), blocked("b.rules:1"))},
			[]string{"stop files.edit                Refused by a.rules:1 (b.rules:1)"}},
		{"texts of others", []audit.Event{foreign}, []string{`stop ev\u{202e}il              evil\u{1b}[2J\u{a}is blocked`}},
		{"asked, once", []audit.Event{ask, ask}, []string{"wait ops.deploy                ap_1  by ann (client cursor)  (a.rules:3)"}},
		{"sessions", []audit.Event{
			audit.Session{Time: noon, Event: "session opened", Session: "s", Principal: "ann"}, audit.Session{Time: noon, Event: "session closed", Session: "s"},
		}, []string{"open session s                 of ann", "shut session s"}},
		{"what the log tells is not told again", []audit.Event{audit.Operator{Time: noon, Event: "stop"}, audit.Policy{Time: noon, Event: "policy"}, audit.Process{Time: noon, Event: "start"}}, nil},
		{"the end", []audit.Event{audit.Process{Time: noon, Event: "end"}}, []string{"end  petrigate                 0 passed, 0 failed, 0 stopped, 0 asked"}},
		{"what became of the calls", []audit.Event{
			allow(1), outcome(1, "success", 3), allow(2), outcome(2, "failure", 3), allow(3), outcome(3, "unknown", 3), refuse("No."), ask, audit.Process{Time: noon, Event: "end"},
		}, []string{
			"pass files.read                3ms  ann (client cursor)", "fail files.read                3ms  ann (client cursor)", "fail files.read                3ms  ann (client cursor)  its outcome is unknown",
			"stop files.edit                No", "wait ops.deploy                ap_1  by ann (client cursor)  (a.rules:3)", "end  petrigate                 1 passed, 2 failed, 1 stopped, 1 asked",
		}},
		{"columns grow and stay", []audit.Event{wide, refuse("No.")}, []string{"stop files.a_tool_of_a_longer_name  No", "stop files.edit                     No"}},
		{"an answer of which the proxy did not tell", []audit.Event{ask, denied, denied}, []string{
			"wait ops.deploy                ap_1  by ann (client cursor)  (a.rules:3)", "no   ops.deploy                ap_1  by ann via web  after 2s",
			"stop ops.deploy                A person denied it", "stop ops.deploy                A person denied it",
		}},
	} {
		var out bytes.Buffer
		s := newFormatter(&lines{out: &out})
		for _, e := range c.events {
			r := trail.Record{Event: record(t, e)}
			entry, err := r.Entry()
			if err != nil {
				t.Fatal(err)
			}
			s.entry(&entry)
		}
		if diff := cmp.Diff(c.want, bare(out.String())); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
		if len(c.want) > 0 && !strings.HasPrefix(out.String(), "12:00:0") {
			t.Errorf("%s: no time: %q", c.name, out.String())
		}
	}
}

// TestLinesAndMemoryAreBounded checks that any record yields one short line, and that the memory
// used for calls and approvals is limited.
func TestLinesAndMemoryAreBounded(t *testing.T) {
	var out bytes.Buffer
	s := newFormatter(&lines{out: &out, mask: strings.NewReplacer("hunter2", "***").Replace})
	long := refuse(strings.Repeat("hunter2", 1000), blocked(strings.Repeat("r", 1000)))
	long.Tool = strings.Repeat("t", 1000)
	entry := trail.Entry{Decision: long}
	entry.Event = "decision"
	s.entry(&entry)
	if got := out.String(); strings.Contains(got, "hunter") || len(got) > 500 || strings.Count(got, "\n") != 1 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	for i := range 2 * maxCalls {
		s.entry(&trail.Entry{Decision: allow(uint64(i))})
		s.wait(noon, fmt.Sprint(i), "deploy", "", nil)
	}
	s.lines.print(line{about: strings.Repeat("w", 1000)})
	if len(s.calls) != maxCalls || len(s.approvals) != maxShown || s.lines.column.Load() != maxColumn {
		t.Error(len(s.calls), len(s.approvals), s.lines.column.Load())
	}
}

// TestFollowFromStartToEnd checks the output from the start of a proxy to its end, with and without
// quiet mode.
func TestFollowFromStartToEnd(t *testing.T) {
	asked := operator.ApprovalInfo{ID: "ap_1", Upstream: "ops", Tool: "deploy", Principal: "ann", Client: "cursor", Rules: []string{"a.rules:1"}}
	asked.Channels = []string{"web", "cli"}
	yes, no, one := asked, asked, asked
	yes.Created, no.ID = noon.Add(-5*time.Second), "ap_2"
	yes.State, yes.Actor, yes.Channel = operator.Approved, "ann", "web"
	no.State, no.Actor, no.Channel, no.Reason = operator.Denied, "bob", "cli", "not\ntoday"
	one.State, one.Actor, one.Channel, one.Needs, one.Approvals = operator.Pending, "ann", "web", 2, 1
	approvals := []string{
		"wait ops.deploy                ap_1  by ann (client cursor)  (a.rules:1)",
		"hint to answer it              petrigate approvals watch, in another terminal; or petrigate open, in a browser",
		"yes  ops.deploy                ap_1  by ann via web  1 of 2 people",
		"yes  ops.deploy                ap_1  by ann via web  after 5s",
		`no   ops.deploy                ap_2  by bob via cli  not\u{a}today`,
	}
	for _, quiet := range []bool{false, true} {
		var out bytes.Buffer
		n := New(Options{Out: &out, Quiet: func() bool { return quiet }, Now: func() time.Time { return noon }})
		feed := audit.NewFeed(nil)
		n.Start(feed, "policy p")
		n.Asked(asked)
		n.Answered(one)
		n.Answered(yes)
		n.Answered(no)
		if err := feed.AppendAll([][]byte{record(t, audit.Process{Time: noon, Event: "end"}), []byte("torn")}); err != nil {
			t.Fatal(err)
		}
		n.End()
		n.End()
		want, got := approvals, bare(out.String())
		if !quiet {
			want = append(append([]string{"run  petrigate                 policy p"}, approvals...), "end  petrigate                 0 passed, 0 failed, 0 stopped, 1 asked")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("quiet %v: -want +got:\n%s", quiet, diff)
		}
		if feed.Active() {
			t.Error("it is still followed")
		}
	}
}

// TestApprovalIsShownOnce checks that an approval and its answer are each printed once, whether the
// record of the call or the proxy's report comes first, and that the answer precedes the result of
// the call.
func TestApprovalIsShownOnce(t *testing.T) {
	asked := operator.ApprovalInfo{ID: "ap_1", Upstream: "ops", Tool: "deploy", Rules: []string{"a.rules:1"}, Created: noon}
	denied := asked
	denied.State, denied.Actor, denied.Channel = operator.Denied, "ann", "web"
	ask := trail.Entry{Decision: audit.Decision{Time: noon, Event: "decision", Upstream: "ops", Tool: "deploy", Decision: "ask", Kind: "approval", Approval: "ap_1", Nets: []audit.NetVerdict{blocked("a.rules:1")}}}
	refused := ask
	refused.Decision.Decision, refused.Actor, refused.Channel, refused.Reason = "refuse", "ann", "web", "Denied."
	want := []string{"wait ops.deploy                ap_1  (a.rules:1)", "no   ops.deploy                ap_1  by ann via web  after 0ms", "stop ops.deploy                Denied (a.rules:1)"}
	for _, first := range []string{"record", "proxy"} {
		var out bytes.Buffer
		s := newFormatter(&lines{out: &out})
		steps := []func(){func() { s.entry(&ask) }, func() { s.approval(&approval{ApprovalInfo: asked, at: noon}) }}
		ends := []func(){func() { s.entry(&refused) }, func() { s.approval(&approval{ApprovalInfo: denied, at: noon, answered: true}) }}
		if first == "proxy" {
			slices.Reverse(steps)
			slices.Reverse(ends)
		}
		for _, do := range append(steps, ends...) {
			do()
		}
		if diff := cmp.Diff(want, bare(out.String())); diff != "" {
			t.Errorf("first the %s: -want +got:\n%s", first, diff)
		}
	}
}

// TestLostLinesAreCounted checks that the number of lost lines is printed.
func TestLostLinesAreCounted(t *testing.T) {
	var out bytes.Buffer
	n := New(Options{Out: &out, Quiet: func() bool { return true }})
	for i := range maxApprovalsHeld + 2 {
		n.Asked(operator.ApprovalInfo{ID: fmt.Sprint(i), Tool: "deploy"})
	}
	n.Start(audit.NewFeed(nil), "")
	n.End()
	got := bare(out.String())
	if len(got) != maxApprovalsHeld+1 || got[0] != "lost 2 lines                   too many events for this terminal" {
		t.Errorf("%d lines, the first: %s", len(got), got[0])
	}
}

// TestNilNarrator checks that a nil Narrator prints nothing and does not change the log.
func TestNilNarrator(t *testing.T) {
	var n *Narrator
	n.Start(nil, "")
	n.Asked(operator.ApprovalInfo{})
	n.Answered(operator.ApprovalInfo{})
	n.End()
	if h := slog.DiscardHandler; n.Log(h) != h {
		t.Error("another log")
	}
}

// TestLogOmitsNarratedRecords checks that the log contains exactly those records that are not
// printed.
func TestLogOmitsNarratedRecords(t *testing.T) {
	for _, c := range []struct {
		say          func(*slog.Logger)
		told, logged string
	}{
		{say: func(l *slog.Logger) { l.Info("a refusal", logkind.Refused, "tool", "x") }},
		{say: func(l *slog.Logger) { l.Error("call refused", "error", errors.New("disk full")) }, logged: "disk full"},
		{say: func(l *slog.Logger) { l.Info("x", logkind.Shadowed) }},
		{say: func(l *slog.Logger) {
			l.Info("approval ap_1 requested: deploy on ops, by x; answer: y", logkind.Approval)
		}},
		{say: func(l *slog.Logger) { l.Info("approval ap_1 approved (1 of 2 people): deploy", logkind.Approval) }},
		{say: func(l *slog.Logger) { l.Info("approval ap_1 denied: deploy", logkind.Approval, "reason", "r") }},
		{say: func(l *slog.Logger) { l.Warn("skipped an approval") }, logged: "skipped an approval"},
		{say: func(l *slog.Logger) { l.Info("listening", "url", "u") }, logged: "listening"},
		{say: func(l *slog.Logger) { l.Warn("x", logkind.Unresolved) }},
		{say: func(l *slog.Logger) { l.Info("x", logkind.Up, "upstream", "files", "tools", 14, "protocol", "p") }, told: "up   files                     14 tools  p"},
		{say: func(l *slog.Logger) { l.Info("x", logkind.Up, "upstream", "files", "tools", 1) }, told: "up   files                     1 tool"},
		{say: func(l *slog.Logger) { l.Info("x", logkind.Connected, "upstream", "files") }},
		{say: func(l *slog.Logger) {
			l.Warn("x", logkind.Reloaded, "actor", "ann", "policy", "0123456789abcdef", "before", "b", "difference", "it is stricter\n\nmuch")
		}, told: "load configuration             it is stricter  policy 0123456789ab  by ann"},
		{say: func(l *slog.Logger) {
			l.Info("x", logkind.Reloaded, "actor", "ann", "policy", "p")
		}, told: "load configuration             the policy is the same  by ann"},
		{say: func(l *slog.Logger) {
			l.Warn("x", logkind.Operator, "event", "stop", "session", "", "actor", "ann", "reason", "lunch")
		}, told: "halt all calls                 by ann  lunch"},
		{say: func(l *slog.Logger) { l.Warn("x", logkind.Operator, "event", "start", "session", "s", "actor", "ann") }, told: "go   session s                 by ann"},
		{say: func(l *slog.Logger) { l.Warn("x", logkind.Operator, "event", "deactivate", "net", "n", "actor", "ann") }, told: "note deactivate                the net n  by ann"},
		{say: func(l *slog.Logger) {
			l.With("a", 1).Warn("x", logkind.Operator, "event", "settle success", "session", "s", "call", 7, "actor", "ann")
		}, told: "note settle success            session s call #7  by ann"},
		{say: func(l *slog.Logger) {
			l.Error("x", logkind.NotLoaded, "actor", "ann", "problem", "a.rules:1:1: no rule\n  x\n  ^")
		}, told: "load configuration             not applied, the previous one stays in effect: a.rules:1:1: no rule  see petrigate check  by ann"},
		{say: func(l *slog.Logger) { l.Warn("x", logkind.Restart, "key", "listen.http") }, told: "load configuration             listen.http changes only after a restart of petrigate"},
		{say: func(l *slog.Logger) { l.Info("call refused", "tool", "x") }, logged: "call refused"}, // without a mark, the message alone does not print anything
		{say: func(l *slog.Logger) { l.WithGroup("g").Info("else", "k", "v") }, logged: "g.k=v"},
	} {
		var out, log bytes.Buffer
		n := New(Options{Out: &out})
		c.say(slog.New(n.Log(slog.NewTextHandler(&log, nil))))
		got := strings.Join(bare(out.String()), "|")
		if got != c.told || c.logged == "" != (log.Len() == 0) || !strings.Contains(log.String(), c.logged) {
			t.Errorf("told %q, want %q; logged %q, want %q", got, c.told, log.String(), c.logged)
		}
	}
	var log bytes.Buffer
	n := New(Options{Out: &bytes.Buffer{}, Quiet: func() bool { return true }})
	h := n.Log(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	slog.New(h).Warn("x", logkind.Unresolved)
	if h.Enabled(context.Background(), slog.LevelInfo) || log.Len() == 0 {
		t.Error("in quiet, a problem is in the log, and nothing less")
	}
}

// TestOnlyVerbIsColored checks that only the verb has a color and that columns stay aligned.
func TestOnlyVerbIsColored(t *testing.T) {
	var out bytes.Buffer
	l := lines{out: &out, ink: true}
	l.print(line{at: noon, verb: "no", about: "x", text: "y"})
	if want := "12:00:00 \x1b[31mno  \x1b[0m x                         y\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestHintUntilSomebodyAnswers checks that the hint on how to answer is printed with each approval
// until someone has answered that way, and that it names only ways that work.
func TestHintUntilSomebodyAnswers(t *testing.T) {
	var out bytes.Buffer
	s := newFormatter(&lines{out: &out})
	info := operator.ApprovalInfo{Tool: "deploy"}
	ask := func(id string, channels ...string) {
		info.ID, info.Channels = id, channels
		s.approval(&approval{ApprovalInfo: info, at: noon})
	}
	yes := func(id, channel string) {
		info.ID, info.Channel, info.State = id, channel, operator.Approved
		s.approval(&approval{ApprovalInfo: info, at: noon, answered: true})
	}
	ask("1", "elicit", "webhook")
	ask("2", "web")
	yes("1", "elicit") // answered through the client, which needs no hint
	ask("3", "web", "cli")
	yes("2", "web")
	ask("4", "web", "cli")
	var hints []string
	for _, l := range bare(out.String()) {
		if rest, ok := strings.CutPrefix(l, "hint to answer it              "); ok {
			hints = append(hints, rest)
		}
	}
	if want := []string{"petrigate open, in a browser", "petrigate approvals watch; or petrigate open"}; !slices.Equal(hints, want) {
		t.Errorf("%q", hints)
	}
}
