package mining

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/soak"
)

func build(t testing.TB, text string) *policy.Result {
	t.Helper()
	p, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "a.rules", Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// world records calls with an admission whose policy refuses nothing.
type world struct {
	t    testing.TB
	a    *admission.Admission
	now  time.Time
	path string
	log  *audit.Log
}

func newWorld(t testing.TB, rules string) *world {
	t.Helper()
	return newWorldOf(t, rules, audit.Full)
}

// newWorldOf returns a world whose records have arguments in the given form.
func newWorldOf(t testing.TB, rules, arguments string) *world {
	t.Helper()
	p := build(t, rules)
	w := &world{t: t, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), path: filepath.Join(t.TempDir(), "audit.jsonl")}
	log, err := audit.Open(w.path, audit.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	w.log = log
	redactor, err := audit.NewRedactor(arguments, nil)
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return w.now }
	w.a = admission.New(admission.Options{
		Ledger:     store.NewMemory(p.Policy, p.Active, nil, audit.NewRecorder(log, clock)),
		Generation: admission.NewGeneration(p.Policy, p.Active), Now: clock, Redactor: redactor, Process: "p",
	})
	w.a.Begin(t.Context(), audit.Process{Driver: "memory"})
	return w
}

// open begins a session.
func (w *world) open(n int, principal string) admission.Key {
	w.t.Helper()
	key := admission.Key{Session: fmt.Sprint("s", n), Principal: principal}
	if err := w.a.Sessions.Open(w.t.Context(), admission.SessionInfo{Key: key, Since: w.now}); err != nil {
		w.t.Fatal(err)
	}
	return key
}

// call makes a call and ends it.
func (w *world) call(key admission.Key, tool, args string, outcome gate.Outcome) {
	c := &admission.Call{Key: key, Tool: tool, Canonical: "up." + tool, Upstream: "up", Gate: gate.Call{Tool: tool, Time: w.now, Args: []byte(args)}}
	if d, ok := w.a.Decide(w.t.Context(), c).(*admission.Admitted); ok {
		w.now = w.now.Add(time.Second)
		w.a.Settle(w.t.Context(), &d.Ticket, gate.End{Outcome: outcome, Time: w.now}, "")
	}
}

func (w *world) close() Log {
	w.t.Helper()
	if err := w.log.Close(); err != nil {
		w.t.Fatal(err)
	}
	return Log{Source: trail.File(w.path), Name: "audit.jsonl"}
}

// suggested returns the proved proposals for a log.
func suggested(t *testing.T, log Log) *Report {
	t.Helper()
	m, r, err := Mine(t.Context(), log, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Prove(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := r.DropRedundant(t.Context(), policy.Source{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// passes replays a log under the proposals, and checks that every call that passed still passes.
func passes(t *testing.T, log Log, r *Report) {
	t.Helper()
	p := build(t, r.lines())
	run, err := replay.New(replay.Options{Policy: p.Policy, Active: p.Active, Differs: func(d *replay.Divergence) {
		if d.Was == "allow" {
			t.Errorf("record %d: %s\n%s", d.Seq, d.Reason, r.lines())
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for record, err := range log.Records(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := record.Entry()
		if err != nil {
			t.Fatal(err)
		}
		run.Add(&record, &e)
	}
	if report := run.Report(); report.Unknown > 0 || report.Decisions == 0 {
		t.Errorf("%+v", report)
	}
}

// discipline is an agent that follows its own rules and is random otherwise.
type discipline struct {
	random           *rand.Rand
	backed, read     map[int]bool
	tested, loggedIn bool
	deployed         int
	fetched          bool
	sms              map[string]int // by principal and day
}

// may reports whether the agent's rules allow the call now.
func (d *discipline) may(tool string, file int, day string) bool {
	switch tool {
	case "delete_file":
		return d.backed[file]
	case "edit_file":
		return d.read[file]
	case "push":
		return d.tested
	case "query_db":
		return d.loggedIn
	case "deploy_app":
		return d.deployed < 3
	case "send_mail":
		return !d.fetched
	case "send_sms":
		return d.sms[day] < 4
	}
	return true
}

// made updates the agent's state after a call.
func (d *discipline) made(tool string, file int, day string, ok bool) {
	switch tool {
	case "delete_file":
		delete(d.backed, file)
	case "push":
		d.tested = false
	case "deploy_app":
		d.deployed++
	case "fetch_page":
		d.fetched = true
	case "send_sms":
		d.sms[day]++
	}
	if !ok {
		return
	}
	switch tool {
	case "backup":
		d.backed[file] = true
	case "read_file":
		d.read[file] = true
	case "test":
		d.tested = true
	case "login":
		d.loggedIn = true
	}
}

var plantedTools = []string{
	"backup", "backup", "delete_file", "delete_file", "read_file", "edit_file", "test", "push", "login", "query_db", "deploy_app", "fetch_page", "send_mail", "send_sms",
	"get_time", "list_files", "search_notes", "create_note", "view_log", "update_note",
}

// planted returns a log of the given number of calls, with rules that hold and noise without rules.
func planted(t testing.TB, seed uint64, calls int) Log {
	w := newWorld(t, "")
	random := rand.New(rand.NewPCG(seed, 7))
	sms := map[string]int{}
	for n := 0; calls > 0; n++ {
		key := w.open(n, []string{"ann", "bob", "eve"}[random.IntN(3)])
		d := &discipline{random: random, backed: map[int]bool{}, read: map[int]bool{}, sms: sms}
		for range 10 + random.IntN(60) {
			tool, file := plantedTools[random.IntN(len(plantedTools))], random.IntN(3)
			if tool == "send_mail" && random.IntN(2) == 0 || tool == "fetch_page" && random.IntN(3) > 0 {
				continue
			}
			day := key.Principal + w.now.Format(time.DateOnly)
			if !d.may(tool, file, day) {
				continue
			}
			outcome := []gate.Outcome{gate.Success, gate.Success, gate.Success, gate.Success, gate.Failure}[random.IntN(5)]
			w.call(key, tool, fmt.Sprintf(`{"path":"/%d/%d","note":"%d"}`, n%40, file, random.IntN(1000)), outcome)
			d.made(tool, file, day, outcome == gate.Success)
			calls--
			w.now = w.now.Add(time.Duration(random.IntN(300)) * time.Second)
		}
		w.now = w.now.Add(time.Duration(random.IntN(240)) * time.Minute)
		if err := w.a.Sessions.End(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return w.close()
}

// TestPlanted checks that all planted rules are found in 10,000 calls with noise, and nothing else
// but limits with headroom for irreversible calls. One log in twenty may have a further limit that
// its noise obeyed by chance.
func TestPlanted(t *testing.T) {
	want := []string{
		"limit deploy_app to 3 per session",
		"require backup before delete_file with same path",
		"require human-approval before send_mail after fetch_page",
		"require login before query_db once",
		"require read_file before edit_file once with same path",
		"require test before push",
	}
	from, count := soak.Range(t, 2)
	chance := count / 20
	for seed := from; seed < from+uint64(count); seed++ { //nolint:gosec // count is not negative
		log := planted(t, seed, 10_000)
		r := suggested(t, log)
		var got []string
		daily := false
		for _, p := range r.Proposals {
			switch {
			case strings.HasPrefix(p.Rule, "limit send_sms to ") && strings.HasSuffix(p.Rule, " per user per day"):
				daily = true
			case p.Chance < 1:
				got = append(got, p.Rule)
			case p.Kind != "row" && p.Kind != "budget":
				t.Errorf("seed %d: %+v", seed, p)
			}
		}
		slices.Sort(got)
		more := slices.DeleteFunc(slices.Clone(got), func(rule string) bool { return slices.Contains(want, rule) })
		if len(more) == 1 && strings.HasPrefix(more[0], "limit ") && chance > 0 {
			t.Logf("seed %d, by chance: %s", seed, more[0])
			chance--
			got = slices.DeleteFunc(got, func(rule string) bool { return rule == more[0] })
		}
		if !slices.Equal(got, want) || !daily {
			t.Errorf("seed %d: %s\ndropped: %v, daily %v", seed, strings.Join(got, "\n"), r.Dropped, daily)
		}
		passes(t, log, r)
	}
}
