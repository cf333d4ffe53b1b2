package draft

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

func TestMain(m *testing.M) { leftover.Main(m) }

const (
	someRules = "require backup before delete\nlimit deploy to 3 per hour\nprove never delete before backup\n"
	someNet   = "name: flow\nplaces: [idle, tested]\ninitialMarking: { idle: 1 }\ntransitions:\n  - { name: test, inputs: [idle], outputs: [tested], tools: [test] }\n  - { name: ship, inputs: [tested], outputs: [idle], tools: [ship] }\n"
	someFile  = `version: 1
mcpServers:
  prod: { command: go, env: { API_TOKEN: verysecret } }
nets:
  - file: flow.yaml
  - { name: own, places: [a], initialMarking: { a: 1 }, transitions: [{ name: t, inputs: [a], outputs: [a], tools: [own] }] }
audit: { file: audit.jsonl }
rules:
  - file: a.rules
  - inline: |
      block rm_rf
      limit notify to 2 per session
`
)

// folder creates a folder with a configuration, changes into it and loads the configuration.
func folder(t *testing.T, files map[string]string) *config.Config {
	t.Helper()
	t.Chdir(t.TempDir())
	all := map[string]string{"petrigate.yaml": someFile, "a.rules": someRules, "flow.yaml": someNet}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(config.Options{Path: "petrigate.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func doubts(c *config.Config) diag.List {
	return slices.Concat(check.ConfigWarnings(c), check.NoUpstream(c), check.NoAudit(c), check.Sessions(c), check.MissingCommands(c, diag.Warning))
}

// desk returns an Evaluator for the configuration.
func desk(t *testing.T, c *config.Config, o Options) *Evaluator {
	t.Helper()
	result, err := policy.Build(policy.FromConfig(c))
	if err != nil {
		t.Fatal(err)
	}
	o.InForce, o.Problems = func() (*config.Config, *policy.Result) { return c, result }, doubts
	d := New(o)
	t.Cleanup(d.Close)
	return d
}

// of returns a text of the given kind from the policy in force.
func of(t *testing.T, c *config.Config, kind string) Text {
	t.Helper()
	all := texts(c)
	i := slices.IndexFunc(all, func(text Text) bool { return text.Kind == kind })
	if i < 0 {
		t.Fatalf("no %s", kind)
	}
	return all[i]
}

// onDisk returns the report of petrigate check for the files on disk.
func onDisk(t *testing.T, list []check.ListedTool) check.Report {
	t.Helper()
	c, err := config.Load(config.Options{Path: "petrigate.yaml"})
	if err != nil {
		problems, rest := check.ConfigProblems(err)
		if rest != nil {
			t.Fatal(rest)
		}
		return check.NewReport(problems, &policy.Result{}, check.ToolSet{}, nil)
	}
	known := check.ToolSet{}
	if list != nil {
		known = check.KnownSet(list, c)
	}
	report, _, err := check.Look(t.Context(), policy.FromConfig(c), doubts(c), known, check.Effort{Time: proofTime, Narrower: narrower(&policy.Result{}), Widened: policydiff.Widened})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// drafts contains texts of each kind. Inline rules are indented as in the configuration.
var drafts = []struct{ kind, text string }{
	{Rules, someRules},
	{Rules, "require tets before deploy\nblokc x\n"},
	{Rules, "block rm\nblock rm\nlimit x to 0 per hour"},
	{Rules, "limit deploy to 3 per hour\nprove at-most 2 deploy per hour\nprove reachable nothing\nprove never delete before backup"},
	{Rules, "# nothing here\n"},
	{Rules, "map bash.command rm as remove\nrequire human-approval via webhook before remove"},
	{Rules, "block \u202eevil\nblock a\x00b\n\x1b[2J"},
	{Rules, "\ufeffblock rm\r\nblock del\r\n"},
	{Rules, strings.Repeat("(", 3000) + "\n" + strings.Repeat("limit deploy to 2 per hour for each x where ", 50)},
	{InlineRules, "block rm_rf\nlimit notify to 2 per session\nprove at-most 1 notify per session"},
	{InlineRules, "blok rm_rf\n\nrequire a before b\nrequire b before a\n"},
	{Nets, someNet},
	{Nets, "name: flow\nplaces: [idle]\nwrong: true\n"},
	{Nets, strings.Replace(someNet, "name: flow", "name: own", 1)},
	{Nets, strings.Replace(someNet, "name: test, ", "name: test, type: manual, via: url, ", 1)},
	{Nets, "name: [\n\t}"},
	{Nets, strings.Replace(someNet, "outputs: [tested]", "outputs: [tested, tested, nowhere]", 1)},
	{Nets, strings.Replace(someNet, "tools: [test]", "tools: [\"${HOME}\", '${file:/etc/passwd}']", 1)},
	{Nets, strings.Repeat("[", 20_000)},
}

// TestDraftMatchesCheckOfFile checks that a draft has the same problems, claims and tools as the
// same text in a file.
func TestDraftMatchesCheckOfFile(t *testing.T) {
	tools := []check.ListedTool{{Exposed: "deploy"}, {Exposed: "delete"}, {Exposed: "backup"}, {Exposed: "test"}}
	for i, draft := range drafts {
		c := folder(t, nil)
		for _, known := range []bool{false, true} {
			list := slices.Clone(tools)
			d := desk(t, c, Options{Tools: func() []check.ListedTool { return slices.Clone(tools) }})
			got, err := d.Check(t.Context(), "ann", Draft{of(t, c, draft.kind).ID, draft.text, known})
			if err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			write(t, draft.kind, draft.text)
			if !known {
				list = nil
			}
			want := onDisk(t, list)
			restore(t)
			if a, b := printed(t, got.Report), printed(t, want); a != b {
				t.Errorf("%d, %s, tools known: %v: the draft has\n%s\nthe file has\n%s", i, draft.kind, known, a, b)
			}
		}
	}
}

// printed formats a report without source lines, because these differ for a draft.
func printed(t *testing.T, r check.Report) string {
	t.Helper()
	r.Judge(false, false)
	for i := range r.Problems {
		r.Problems[i].Excerpt = "-"
	}
	var b strings.Builder
	if err := r.Print(&b, false, true); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func write(t *testing.T, kind, text string) {
	t.Helper()
	name := map[string]string{Rules: "a.rules", Nets: "flow.yaml", InlineRules: "petrigate.yaml"}[kind]
	if kind == InlineRules {
		block := "      " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n      ") + "\n"
		text = strings.Replace(someFile, "      block rm_rf\n      limit notify to 2 per session\n", block, 1)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func restore(t *testing.T) {
	t.Helper()
	write(t, Rules, someRules)
	write(t, Nets, someNet)
	if err := os.WriteFile("petrigate.yaml", []byte(someFile), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestProblemPositionsInDraft checks that a problem has its position in the draft's text, and its
// source line.
func TestProblemPositionsInDraft(t *testing.T) {
	c := folder(t, nil)
	d := desk(t, c, Options{})
	for _, one := range []struct {
		kind, text, want string
	}{
		{Rules, "block rm\nblokc x\n", "2:1 a.rules:2:1 blokc x|^^^^^"},
		{InlineRules, "block rm\n  blokc x\n", "2:3 petrigate.yaml:12:9   blokc x|  ^^^^^"},
		{Nets, "name: flow\nplaces: [a]\nwrong: 1\n", "3:1 flow.yaml:3:1 wrong: 1|^"},
		{Rules, "limit deploy to 3 per hour\nprove at-most 2 deploy per hour\n", "2:1 a.rules:2:1 prove at-most 2 deploy per hour|^"},
	} {
		got, err := d.Check(t.Context(), "ann", Draft{of(t, c, one.kind).ID, one.text, false})
		if err != nil || len(got.Problems) == 0 {
			t.Fatalf("%s: %v", one.text, err)
		}
		p := got.Problems[0]
		if s := fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Place, strings.ReplaceAll(p.Excerpt, "\n", "|")); s != one.want {
			t.Errorf("%q: %s, want %s", one.text, s, one.want)
		}
	}
}

// TestTextsHideSecretsAndChanges checks that a text is not shown if it may contain a secret, has
// changed or is too long.
func TestTextsHideSecretsAndChanges(t *testing.T) {
	c := folder(t, nil)
	if got := of(t, c, Rules); got.Text != someRules || got.Closed != "" {
		t.Errorf("%+v", got)
	}
	if got := of(t, c, InlineRules); got.Text != "block rm_rf\nlimit notify to 2 per session\n" {
		t.Errorf("%+v", got)
	}
	all := texts(c)
	if own := all[len(all)-1]; own.Name != "petrigate.yaml" || own.Text != "" || !strings.Contains(own.Closed, "could contain secrets") {
		t.Errorf("%+v", own)
	}
	if err := os.WriteFile("flow.yaml", []byte(someNet+"# more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := of(t, c, Nets); got.Text != "" || !strings.Contains(got.Closed, "has changed") {
		t.Errorf("%+v", got)
	}
	c = folder(t, map[string]string{"a.rules": "# verysecret\nblock rm\n"})
	if got := of(t, c, Rules); got.Text != "" || !strings.Contains(got.Closed, "secret") {
		t.Errorf("%+v", got)
	}
	d := desk(t, c, Options{})
	if _, err := d.Check(t.Context(), "ann", Draft{Of: of(t, c, Rules).ID, Text: "block rm"}); err == nil {
		t.Error("a text that is not shown was drafted")
	}
	c = folder(t, map[string]string{"a.rules": "block rm\n" + strings.Repeat("# long\n", MaxText/7)})
	if got := of(t, c, Rules); got.Text != "" || !strings.Contains(got.Closed, "256 KiB") {
		t.Errorf("%.60s %s", got.Text, got.Closed)
	}
}

// TestUnknownAndLongDraftsAreRefused checks that drafts of an unknown text and drafts that are too
// long are refused.
func TestUnknownAndLongDraftsAreRefused(t *testing.T) {
	c := folder(t, nil)
	d := desk(t, c, Options{})
	id := of(t, c, Rules).ID
	for text, want := range map[string]error{"": nil, strings.Repeat("x", MaxText+1): ErrLong} {
		if _, err := d.Check(t.Context(), "ann", Draft{Of: id, Text: text}); !errors.Is(err, want) {
			t.Errorf("%.10s: %v", text, err)
		}
	}
	for _, of := range []string{"", "x", id + "0", "../a.rules"} {
		if _, err := d.Check(t.Context(), "ann", Draft{Of: of, Text: "block rm"}); !errors.Is(err, ErrGone) {
			t.Errorf("%q: %v", of, err)
		}
	}
	if _, err := d.Check(t.Context(), "ann", Draft{Of: id, Text: strings.Repeat("block a\n", MaxRules+1)}); !errors.Is(err, ErrMany) {
		t.Errorf("many rules: %v", err)
	}
	for _, text := range []string{strings.Repeat("blokc a\n", MaxRules), strings.Repeat("\x00", MaxText), strings.Repeat("(", MaxText), strings.Repeat("map bash.command \"", MaxText/18)} {
		if _, err := d.Check(t.Context(), "ann", Draft{Of: id, Text: text}); err != nil && !errors.Is(err, ErrSlow) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
}

// TestDraftReadsNoFile checks that a draft cannot make petrigate read a file, whatever it claims.
func TestDraftReadsNoFile(t *testing.T) {
	c := folder(t, map[string]string{"wide.rules": "block rm_rf\n", "a.rules": someRules + "prove narrower-than wide.rules\n", "other.rules": "block rm_rf\n"})
	d := desk(t, c, Options{})
	got, err := d.Check(t.Context(), "ann", Draft{Of: of(t, c, Rules).ID, Text: someRules + "prove narrower-than wide.rules\nprove narrower-than other.rules\nprove narrower-than /etc/passwd\n"})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, claim := range got.Report.Claims()[1:] {
		all = append(all, claim.Result+" "+claim.Why)
	}
	if want := "proved , unknown drafts cannot read files; petrigate check compares with other.rules, unknown drafts cannot read files; petrigate check compares with /etc/passwd"; strings.Join(all, ", ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(all, ", "), want)
	}
}

// TestCompareNamesCalls checks that a difference is explained with calls.
func TestCompareNamesCalls(t *testing.T) {
	c := folder(t, nil)
	d := desk(t, c, Options{})
	id := of(t, c, Rules).ID
	for text, want := range map[string]string{
		someRules: "equal the policy in force and the draft make the same decisions",
		strings.Replace(someRules, "deploy to 3", "deploy to 1", 1): "stricter the draft is stricter",
		strings.Replace(someRules, "deploy to 3", "deploy to 4", 1): "looser the draft is looser",
	} {
		got, err := d.Compare(t.Context(), "ann", Draft{Of: id, Text: text})
		if err != nil || !strings.HasPrefix(got.Result+" "+got.Text, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if _, err := d.Compare(t.Context(), "ann", Draft{Of: id, Text: "blokc x"}); err == nil || !strings.Contains(err.Error(), "a.rules:1:1") {
		t.Errorf("%v", err)
	}
	if _, err := d.Compare(t.Context(), "ann", Draft{Of: of(t, c, Nets).ID, Text: "["}); err == nil || !strings.Contains(err.Error(), "flow.yaml:1") {
		t.Errorf("%v", err)
	}
}

// TestShadowPolicyIsComparedAsEnforced checks that a policy in shadow mode is compared as if it
// were enforced.
func TestShadowPolicyIsComparedAsEnforced(t *testing.T) {
	c := folder(t, map[string]string{"petrigate.yaml": someFile + "mode: shadow\n"})
	d := desk(t, c, Options{})
	got, err := d.Compare(t.Context(), "ann", Draft{Of: of(t, c, Rules).ID, Text: strings.Replace(someRules, "deploy to 3", "deploy to 1", 1)})
	if err != nil || got.Result != "stricter" || !strings.Contains(got.Text, "deploy: allow before, refuse now") {
		t.Errorf("%+v, %v", got, err)
	}
	p, err := d.Policy(t.Context(), "ann")
	if err != nil || !p.Shadow || p.Report == nil || p.Nets != 6 || len(p.Report.Claims()) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A stalled is a log that yields no records until open is closed.
type stalled struct {
	begun chan struct{}
	open  chan struct{} // nil if only the context ends the wait
}

func (s stalled) Records(ctx context.Context, _ *trail.Filter) iter.Seq2[trail.Record, error] {
	return func(yield func(trail.Record, error) bool) {
		close(s.begun)
		select {
		case <-s.open:
		case <-ctx.Done():
			yield(trail.Record{}, ctx.Err())
		}
	}
}

// TestOneReplayAtATime checks that only one replay runs at a time, and that a replay ends when its
// caller has gone.
func TestOneReplayAtATime(t *testing.T) {
	c := folder(t, nil)
	log := stalled{make(chan struct{}), make(chan struct{})}
	source := trail.Source(log)
	d := desk(t, c, Options{Log: func() *Log { return &Log{Source: source, Name: "a log"} }})
	draft := Draft{Of: of(t, c, Rules).ID, Text: someRules}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := d.Replay(ctx, draft, time.Time{})
		ended <- err
	}()
	<-log.begun
	if _, err := d.Replay(t.Context(), draft, time.Time{}); !errors.Is(err, ErrBusy) {
		t.Errorf("the second: %v", err)
	}
	if _, err := d.Check(t.Context(), "ann", draft); err != nil {
		t.Errorf("a check meanwhile: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the page was closed: %v", err)
	}
	d.Close() // waits until the work has ended
	if _, err := d.Replay(t.Context(), draft, time.Time{}); err == nil {
		t.Error("after the end")
	}
}

// TestLimiter checks that each person has one slot, and that there are only a few slots in total.
func TestLimiter(t *testing.T) {
	turns := newLimiter(2)
	first, err := turns.acquire(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.acquire(gone, "ann"); !errors.Is(err, context.Canceled) {
		t.Errorf("the same person: %v", err)
	}
	second, err := turns.acquire(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turns.acquire(gone, "eve"); !errors.Is(err, context.Canceled) {
		t.Errorf("the third: %v", err)
	}
	next := make(chan func())
	go func() {
		release, _ := turns.acquire(context.WithoutCancel(gone), "ann")
		next <- release
	}()
	first()
	(<-next)()
	second()
	if len(turns.running) != 0 {
		t.Errorf("%d seats are left", len(turns.running))
	}
}

// TestConcurrentChecks checks that concurrent checks each return the result for their own text.
func TestConcurrentChecks(t *testing.T) {
	c := folder(t, nil)
	d := desk(t, c, Options{})
	id := of(t, c, Rules).ID
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			name := fmt.Sprintf("tool%d", i)
			got, err := d.Check(t.Context(), fmt.Sprint("person ", i%5), Draft{Of: id, Text: "block " + name})
			if errors.Is(err, ErrSlow) {
				return // may happen on a busy machine
			}
			if err != nil || got.Report.ToolRows()[0][0] != name {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
}

// TestPanicIsAnError checks that a panic becomes an error and frees the slot.
func TestPanicIsAnError(t *testing.T) {
	c := folder(t, nil)
	d := desk(t, c, Options{})
	err := d.run(t.Context(), d.slotFor("ann"), time.Minute, func(context.Context) error { panic("oh") })
	if err == nil || !strings.Contains(err.Error(), "oh") {
		t.Error(err)
	}
	if err := d.run(t.Context(), d.slotFor("ann"), time.Minute, func(context.Context) error { return nil }); err != nil {
		t.Errorf("the turn is not free: %v", err)
	}
}

// TestSlowWorkKeepsItsSlot checks that run returns even if the work ignores its deadline, and that
// the work then keeps its slot.
func TestSlowWorkKeepsItsSlot(t *testing.T) {
	c := folder(t, nil)
	d := desk(t, c, Options{})
	free := make(chan struct{})
	if err := d.run(t.Context(), d.slotFor("ann"), time.Nanosecond, func(context.Context) error { <-free; return nil }); !errors.Is(err, ErrSlow) {
		t.Errorf("%v", err)
	}
	close(free)
}

// benchmarkRules returns rules for 60 nets, with some claims.
func benchmarkRules(hard bool) string {
	var b strings.Builder
	for i := range 20 {
		if hard {
			fmt.Fprintf(&b, "require build%d before deploy%d with same repo\nlimit deploy%d to %d per hour for each repo\nrequire human-approval before push%d\n", i, (i+1)%20, i, i%5+2, i)
			fmt.Fprintf(&b, "prove never push%d without human-approval\nprove never deploy%d before build%d\n", i, (i+1)%20, i)
			continue
		}
		fmt.Fprintf(&b, "require build%d before deploy%d\nlimit deploy%d to %d per hour\nblock rm%d\n", i, i, i, i%5+2, i)
	}
	b.WriteString("prove at-most 3 deploy1 per hour\nprove reachable deploy2\n")
	return b.String()
}

// BenchmarkCheck checks a draft with 60 nets.
func BenchmarkCheck(b *testing.B) {
	for name, text := range map[string]string{"plain": benchmarkRules(false), "keys": benchmarkRules(true)} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.rules"), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
			c, err := config.Parse(filepath.Join(dir, "petrigate.yaml"), []byte("rules: [{ file: a.rules }]\nmcpServers: {}\n"), config.Options{})
			if err != nil {
				b.Fatal(err)
			}
			result, err := policy.Build(policy.FromConfig(c))
			if err != nil || len(result.Nets) < 60 {
				b.Fatal(len(result.Nets), err)
			}
			d := New(Options{InForce: func() (*config.Config, *policy.Result) { return c, result }})
			defer d.Close()
			id := texts(c)[0].ID
			unknown := 0
			for b.Loop() {
				checked, err := d.Check(b.Context(), "ann", Draft{Of: id, Text: text})
				if err != nil {
					b.Fatal(err)
				}
				unknown = 0
				for _, c := range checked.Report.Claims() {
					if c.Result == "unknown" {
						unknown++
					}
				}
			}
			b.ReportMetric(float64(unknown), "unknown")
		})
	}
}
