package replay_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/soak"
)

// rules are the rules that random policies consist of.
var rules = []string{
	"require backup before delete",
	"require test before push since edit",
	"require review before push once",
	"require human-approval before deploy",
	"require 2 human-approvals before publish",
	"block remove",
	"limit push to 3 per session",
	"limit deploy to 4 per user",
	"limit delete to 2 per backup",
	"limit test to 1 per successful edit",
	"limit edit to 5 per minute",
	"limit edit to 2 per session for each path",
	"limit delete to 1 per session for each path",
	"limit pay to 20 of amount per session",
	"limit pay to 30 of amount per session for each path",
	"limit pay to 50 of amount per user per day",
	"limit * to 2 in a row",
	"limit push to 1 at once",
	"require test before push with same path",
	"require backup before delete with same path",
	"require backup before delete with same result.$.id as path",
	"block push after fetch until review",
	"limit chat.send to 2 per session",
	"block chat.ban",
	"block dele*",
	"require backup before re*",
	"shadow block edit",
	"shadow limit push to 1 per session",
	"map bash.command rm as remove\nmap bash.command /git push/ as push",
	"map bash.command runs rm as delete",
	`map pay when "args.amount > 5" as big`,
	"limit big to 1 per session",
	"limit bash to 3 per session unless listing\nmap bash.command runs ls as listing",
}

// usable contains the rules that the language supports.
func usable(t testing.TB) (all []string) {
	for _, r := range rules {
		if _, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "a.rules", Text: r}}}); err == nil {
			all = append(all, r)
		} else {
			t.Logf("not a rule: %q", r)
		}
	}
	if len(all) < 25 {
		t.Fatalf("only %d of the rules can be read", len(all))
	}
	return all
}

// source returns a random policy.
func source(random *rand.Rand, all []string) policy.Source {
	var lines []string
	for _, i := range random.Perm(len(all))[:1+random.IntN(6)] {
		lines = append(lines, all[i])
	}
	return policy.Source{Rules: []config.RuleText{{File: "a.rules", Text: strings.Join(lines, "\n")}}, Default: []string{"", "", "", "deny"}[random.IntN(4)]}
}

func build(t testing.TB, s policy.Source) *policy.Result {
	t.Helper()
	p, err := policy.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A world is an admission with a log, as in a proxy, and random calls.
type world struct {
	testing.TB
	*admission.Admission
	random *rand.Rand
	now    time.Time
	keys   []admission.Key
	open   []*admission.Ticket
	broker *approval.Broker
	log    *audit.Log
	path   string
}

func newWorld(t testing.TB, seed uint64, p *policy.Result, arguments string) *world {
	w := &world{TB: t, random: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), path: filepath.Join(t.TempDir(), "audit.jsonl")}
	clock := func() time.Time { return w.now }
	log, err := audit.Open(w.path, audit.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	w.log = log
	redactor, err := audit.NewRedactor(arguments, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.broker = approval.New(approval.Options{Expire: time.Hour, Channels: []string{approval.CLI}, Now: clock})
	g := admission.NewGeneration(p.Policy, p.Active)
	w.Admission = admission.New(admission.Options{
		Ledger: store.NewMemory(p.Policy, p.Active, w.broker, audit.NewRecorder(log, clock)), Generation: g,
		Now: clock, Redactor: redactor, Process: "p",
	})
	w.Begin(t.Context(), audit.Process{Driver: "memory"})
	for i := range 3 {
		w.keys = append(w.keys, admission.Key{Session: "s" + strconv.Itoa(i), Principal: []string{"ann", "bob"}[i%2]})
		if err := w.Sessions.Open(t.Context(), admission.SessionInfo{Key: w.keys[i], Since: w.now}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func pick[T any](w *world, of ...T) T { return of[w.random.IntN(len(of))] }

// call returns a random call.
func (w *world) call() *admission.Call {
	tool := pick(w, "backup", "delete", "test", "push", "edit", "review", "deploy", "pay", "chat", "bash", "fetch", "other")
	args := map[string]any{}
	switch tool {
	case "chat":
		args["action"] = pick[any](w, "send", "ban", "read", []string{"send"}, 7)
	case "bash":
		args["command"] = pick(w, "rm -r x", "git push", "ls", "echo rm", "ls; rm y", "$X")
	case "pay":
		args["amount"] = pick[any](w, 1, 2.5, 7, 30, "many")
	}
	if w.random.IntN(4) > 0 {
		args["path"] = pick[any](w, "a", "b", []string{"a", "b"}, 3)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		w.Fatal(err)
	}
	return &admission.Call{
		Key: pick(w, w.keys...), Tool: tool, Canonical: "up." + tool, Upstream: "up",
		Gate: gate.Call{Tool: tool, Also: []gate.Name{{Text: "up." + tool, Certain: true}}, Args: raw, Time: w.now, Upstream: "up"},
	}
}

// step makes a call, ends one, or lets time pass.
func (w *world) step() {
	w.now = w.now.Add(time.Duration(w.random.IntN(4000)) * time.Millisecond)
	if len(w.open) > 0 && w.random.IntN(2) == 0 {
		i := w.random.IntN(len(w.open))
		w.Settle(w.Context(), w.open[i], gate.End{Outcome: pick(w, gate.Success, gate.Success, gate.Failure, gate.Unknown), Result: []byte(pick(w, `{"id":"a"}`, `{"id":3}`, `{}`))}, "")
		w.open = slices.Delete(w.open, i, i+1)
		return
	}
	c := w.call()
	d := w.Decide(w.Context(), c)
	if q, ok := d.(*admission.Asked); ok {
		d = w.answer(c, q)
	}
	if a, ok := d.(*admission.Admitted); ok {
		w.open = append(w.open, &a.Ticket)
	}
}

// answer answers on behalf of a person.
func (w *world) answer(c *admission.Call, q *admission.Asked) admission.Decision {
	defer w.Withdraw(w.Context(), c.Key, q)
	if w.random.IntN(3) == 0 {
		return w.Deny(w.Context(), c, q.Ask, "denied", nil)
	}
	r, err := w.broker.Open(approval.Key{Session: c.Session, Tool: c.Tool, Arguments: audit.HashOf(string(c.Gate.Args))}, approval.Call{Tool: c.Tool}, q.Ask)
	if err != nil {
		return w.Deny(w.Context(), c, q.Ask, err.Error(), nil)
	}
	if err := w.broker.Answer(r.ID, true, approval.CLI, "eve", ""); err != nil {
		w.Fatal(err)
	}
	d, err := w.Redeem(w.Context(), c, q, admission.Consent{ID: r.ID, Channel: approval.CLI, Actor: "eve"})
	if err != nil {
		w.Fatal(err)
	}
	return d
}

// played replays the log at path under a policy.
func played(t testing.TB, path string, p *policy.Result) replay.Report {
	t.Helper()
	r, err := replay.New(replay.Options{Policy: p.Policy, Active: p.Active})
	if err != nil {
		t.Fatal(err)
	}
	for record, err := range trail.File(path).Records(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := record.Entry()
		if err != nil {
			t.Fatal(err)
		}
		if _, measured := t.(*testing.B); !measured {
			var want trail.Entry
			if err := json.Unmarshal(record.Event, &want); err != nil || !reflect.DeepEqual(e, want) {
				t.Errorf("%s: read as\n%+v, want\n%+v", record.Event, e, want)
			}
		}
		r.Add(&record, &e)
	}
	return r.Report()
}

// TestRandomLogs checks that the decisions of random policies on random calls agree with the
// record, both with hashes alone and with all arguments, and that one changed verdict is found.
func TestRandomLogs(t *testing.T) {
	seed, logs := soak.Range(t, 60)
	all := usable(t)
	decisions, unknown, found := 0, 0, 0
	for n := range logs {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		s := source(random, all)
		p := build(t, s)
		w := newWorld(t, seed+uint64(n), p, []string{audit.Hash, audit.Full}[n%2])
		for range 120 {
			w.step()
		}
		if err := w.log.Close(); err != nil {
			t.Fatal(err)
		}
		r := played(t, w.path, p)
		decisions, unknown = decisions+r.Decisions, unknown+r.Unknown
		if r.Differs() || r.Agreed+r.Unknown != r.Decisions || r.Agreed == 0 {
			first, _ := json.MarshalIndent(r, "", " ")
			t.Fatalf("log %d of seed %d:\n%s\n%s", n, seed, s.Rules[0].Text, first)
		}
		if r.Unknown == 0 && plant(t, w.path, random) {
			found++
			if r := played(t, w.path, p); r.Wrong == 0 {
				t.Errorf("log %d of seed %d: a verdict was changed and %+v", n, seed, r)
			}
		}
	}
	if unknown*20 > decisions || found < logs/2 {
		t.Errorf("%d of %d decisions are not known; %d changes were found", unknown, decisions, found)
	}
	t.Logf("%d decisions, %d not known, %d changes found", decisions, unknown, found)
}

// plant changes one verdict in the log.
func plant(t testing.TB, path string, random *rand.Rand) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	var at []int
	for i, l := range lines {
		if bytes.Contains(l, []byte(`"kind":"blocked"`)) || bytes.Contains(l, []byte(`"verdict":"gated"`)) && bytes.Contains(l, []byte(`"decision":"allow"`)) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return false
	}
	i := at[random.IntN(len(at))]
	if bytes.Contains(lines[i], []byte(`"kind":"blocked"`)) {
		lines[i] = bytes.ReplaceAll(bytes.Replace(lines[i], []byte(`"decision":"refuse","kind":"blocked"`), []byte(`"decision":"allow"`), 1), []byte(`"verdict":"blocked"`), []byte(`"verdict":"gated"`))
	} else {
		lines[i] = bytes.Replace(lines[i], []byte(`"decision":"allow"`), []byte(`"decision":"refuse","kind":"blocked"`), 1)
	}
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return true
}

// logOf returns a log of calls made in one session under a policy.
func logOf(t *testing.T, p *policy.Result, arguments string, calls ...string) string {
	t.Helper()
	w := newWorld(t, 1, p, arguments)
	for _, line := range calls {
		tool, args, _ := strings.Cut(line, " ")
		c := w.call()
		c.Key, c.Tool, c.Gate.Tool, c.Gate.Args = w.keys[0], tool, tool, []byte(args)
		c.Gate.Also = nil
		if a, ok := w.Decide(t.Context(), c).(*admission.Admitted); ok {
			w.Settle(t.Context(), &a.Ticket, gate.End{Outcome: gate.Success}, "")
		}
	}
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	return w.path
}

func ruled(t *testing.T, text string) *policy.Result {
	t.Helper()
	return build(t, policy.Source{Rules: []config.RuleText{{File: "a.rules", Text: text}}})
}

// TestCandidates checks that another policy is compared as far as the record has the values that it
// reads.
func TestCandidates(t *testing.T) {
	const was = "limit push to 2 per session\nlimit pay to 30 of amount per session\nmap bash.command rm as remove\nblock remove\nlimit chat.send to 9 per session"
	calls := []string{
		`push {}`, `push {}`, `push {}`, `pay {"amount":20}`, `pay {"amount":9}`, `pay {"amount":2}`,
		`bash {"command":"rm x"}`, `bash {"command":"ls"}`, `chat {"action":"send"}`, `edit {"path":"a"}`, `edit {"path":"a"}`,
	}
	for _, c := range []struct {
		rules, want string
	}{
		{was, "11 agreed"},
		{strings.Replace(was, "push to 2", "push to 1", 1), "10 agreed, 1 different: 1 allow>refuse limit-push-1"},
		{strings.Replace(was, "push to 2", "push to 5", 1), "10 agreed, 1 different: 1 refuse>allow limit-push-2"},
		{strings.Replace(was, "pay to 30", "pay to 25", 1), "9 agreed, 2 different: 1 allow>refuse limit-pay-25-of-amount 1 refuse>allow limit-pay-30-of-amount"},
		{was + "\nblock chat.send", "10 agreed, 1 different: 1 allow>refuse block-chat.send"},
		{was + "\nrequire human-approval before edit", "9 agreed, 2 different: 2 allow>ask approve-before-edit"},
		{was + "\nlimit edit to 1 per session for each path", "9 agreed, 2 unknown"},
		{was + "\nblock chat.ban", "10 agreed, 1 unknown"},
		{was + "\nmap bash.command ls as listing\nblock listing", "9 agreed, 2 unknown"},
		{was + "\nlimit * to 1 in a row", "2 agreed, 1 different: 1 allow>refuse limit-*-1-in-a-row, 8 unknown"},
	} {
		r := played(t, logOf(t, ruled(t, was), audit.Hash, calls...), ruled(t, c.rules))
		got := strconv.Itoa(r.Agreed) + " agreed"
		if r.Different > 0 {
			got += ", " + strconv.Itoa(r.Different) + " different:"
			for _, of := range r.Rules {
				got += " " + strconv.Itoa(of.Count) + " " + of.Was + ">" + of.Now + " " + of.Net
			}
		}
		if r.Unknown > 0 {
			got += ", " + strconv.Itoa(r.Unknown) + " unknown"
		}
		if !strings.HasPrefix(got, c.want) || r.Wrong > 0 {
			t.Errorf("%s\n%s, want %s: %+v", c.rules, got, c.want, r)
		}
		full := played(t, logOf(t, ruled(t, was), audit.Full, calls...), ruled(t, c.rules))
		if full.Unknown > 0 {
			t.Errorf("%s\nwith all arguments: %+v", c.rules, full)
		}
	}
}

// TestEachDifference checks that every decision that differs is reported. If the first records of a
// log are left out, decisions that depend on them are unknown.
func TestEachDifference(t *testing.T) {
	p := ruled(t, "limit push to 2 per session")
	path := logOf(t, p, audit.Hash, `push {}`, `push {}`, `push {}`, `edit {}`)
	for _, partial := range []bool{false, true} {
		other := ruled(t, "limit push to 1 per session\nrequire human-approval before edit")
		var told []string
		r, err := replay.New(replay.Options{Policy: other.Policy, Partial: partial, Differs: func(d *replay.Divergence) {
			told = append(told, d.Tool+" "+d.Was+">"+d.Now)
		}})
		if err != nil {
			t.Fatal(err)
		}
		for record, err := range trail.File(path).Records(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			e, err := record.Entry()
			if err != nil {
				t.Fatal(err)
			}
			if !partial || e.Event != "session opened" {
				r.Add(&record, &e)
			}
		}
		want, unknown := "push allow>refuse edit allow>ask", 0
		if partial {
			want, unknown = "", 2
		}
		if got := r.Report(); strings.Join(told, " ") != want || got.Unknown != unknown {
			t.Errorf("partial %v: %q, %+v", partial, told, got)
		}
	}
}

// TestNotGuessed checks that nets that read unrecorded parts of calls are not evaluated.
func TestNotGuessed(t *testing.T) {
	nets := []gate.Net{{
		Name: "judge", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Identity: "1",
		Transitions: []gate.Transition{{Name: "run", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("run")}},
		Validate: func(f gate.Firing) error {
			if bytes.Contains(f.Call.Args, []byte("rm")) {
				return os.ErrPermission
			}
			return nil
		},
	}}
	g, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := &policy.Result{Policy: g}
	calls := []string{`run {"a":"ls"}`, `run {"a":"rm"}`, `other {}`}
	if r := played(t, logOf(t, p, audit.Hash, calls...), p); r.Unknown != 2 || r.Agreed != 1 || r.Differs() {
		t.Errorf("%+v", r)
	}
	if r := played(t, logOf(t, p, audit.Full, calls...), p); r.Agreed != 3 {
		t.Errorf("%+v", r)
	}
}

// TestCut checks that nothing is guessed about the removed beginning of a log.
func TestCut(t *testing.T) {
	p := ruled(t, "limit push to 2 per session")
	path := logOf(t, p, audit.Hash, `push {}`, `push {}`, `push {}`, `other {}`)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(lines[7:], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := played(t, path, p); r.Unknown != 1 || r.Agreed != 2 || r.Differs() {
		t.Errorf("%+v", r)
	}
}

// BenchmarkReplay replays calls under a policy of five rules.
func BenchmarkReplay(b *testing.B) {
	p := build(b, policy.Source{Rules: []config.RuleText{{File: "a.rules", Text: strings.Join(rules[:6], "\n")}}})
	w := newWorld(b, 1, p, audit.Hash)
	for range 2000 {
		w.step()
	}
	w.log.Close()
	calls := 0
	for b.Loop() {
		calls += played(b, w.path, p).Decisions
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
}
