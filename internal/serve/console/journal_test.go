package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/soak"
)

// day is the date of all test records.
var day = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

func record(t testing.TB, e audit.Event) []byte {
	t.Helper()
	doc, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// allowed returns the record of a decision that allows a call.
func allowed(t testing.TB, session string, call uint64, tool string, at time.Time) []byte {
	return record(t, audit.Decision{
		Time: at, Event: "decision", Session: session, Principal: "ann", Client: "cursor", Call: call, ID: fmt.Sprint(call), Upstream: "up", Tool: tool,
		Names: []string{tool, "up." + tool}, Decision: "allow", Policy: "f", Nets: []audit.NetVerdict{{Net: "limit-" + tool, Verdict: "gated", Transition: "t", Rule: "a.rules:1:1"}},
	})
}

// refusal returns the record of a call that was refused by a net.
func refusal(t testing.TB, session, tool string, at time.Time) []byte {
	return record(t, audit.Decision{
		Time: at, Event: "decision", Session: session, Principal: "bob", Client: "claude", Upstream: "up", Tool: tool, Decision: "refuse", Kind: "blocked",
		Reason: tool + " requires backup first.", Policy: "f", Nets: []audit.NetVerdict{{Net: "backup-first", Verdict: "blocked", Rule: "a.rules:2:1"}, {Net: "other", Verdict: "free"}},
	})
}

// result returns the record of the outcome of a call that arrived at the given time.
func result(t testing.TB, session string, call uint64, tool string, came time.Time, took time.Duration, outcome string) []byte {
	return record(t, audit.Outcome{Time: came.Add(took), Event: "outcome", Session: session, Call: call, Tool: "up." + tool, Outcome: outcome, Millis: float64(took.Microseconds()) / 1000})
}

func journalOf(records ...[]byte) *journal {
	j := newJournal(func() time.Time { return day })
	j.add(records, 0)
	return j
}

// says summarizes a row as text.
func says(r *row) string {
	return strings.TrimRight(fmt.Sprintf("%s %s #%d %s %s %s", r.Event, r.Tool, r.Call, r.Decision, r.Outcome, r.Task), " ")
}

func rowsSay(j *journal) (all []string) {
	for _, r := range j.all() {
		all = append(all, says(r))
	}
	return all
}

// TestCallIsOneRow checks that a call with its decision and outcome is one row, and that other
// events are listed between the calls.
func TestCallIsOneRow(t *testing.T) {
	j := journalOf(
		record(t, audit.Process{Time: day, Event: "start", Process: "p"}),
		record(t, audit.Policy{Time: day, Event: "policy", Policy: "f"}),
		record(t, audit.Session{Time: day, Event: "session opened", Session: "s", Principal: "ann"}),
		allowed(t, "s", 1, "push", day), allowed(t, "s", 2, "pull", day),
		record(t, audit.Task{Time: day, Event: "task", Session: "s", Call: 2, Tool: "up.pull", Task: "t7"}),
		refusal(t, "s", "drop", day),
		result(t, "s", 2, "pull", day, time.Minute, "failure"), result(t, "s", 1, "push", day, time.Millisecond, "success"),
		record(t, audit.Operator{Time: day, Event: "stop", Actor: "eve", Reason: "enough"}),
		record(t, audit.Operator{Time: day, Event: "start", Actor: "eve"}),
		record(t, audit.Switch{Time: day, Event: "activate", Net: "n", Actor: "eve"}),
		[]byte(`{"time":"2026-01-02T08:00:00Z","event":"something else"}`),
		record(t, audit.Session{Time: day, Event: "session closed", Session: "s"}),
	)
	want := []string{
		"process started  #0", "policy in force  #0", "session opened  #0", "call up.push #1 allow success", "call up.pull #2 allow failure t7",
		"call up.drop #0 refuse", "stop  #0", "start  #0", "activate  #0", "session closed  #0",
	}
	if got := rowsSay(j); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestOutcomeOfOtherCallIsNotJoined checks that an outcome is not joined to a call with a different
// session, tool, number or time, that it is not joined twice, and that it is not joined to a
// refused call.
func TestOutcomeOfOtherCallIsNotJoined(t *testing.T) {
	for name, other := range map[string][]byte{
		"session":      result(t, "s2", 1, "push", day, time.Millisecond, "success"),
		"number":       result(t, "s", 2, "push", day, time.Millisecond, "success"),
		"tool":         result(t, "s", 1, "pull", day, time.Millisecond, "success"),
		"later":        result(t, "s", 1, "push", day.Add(time.Second), time.Millisecond, "success"),
		"before":       result(t, "s", 1, "push", day.Add(-time.Second), time.Millisecond, "success"),
		"negative":     result(t, "s", 1, "push", day, -time.Millisecond, "success"),
		"of a refusal": result(t, "s", 0, "drop", day, time.Millisecond, "success"),
	} {
		j := journalOf(allowed(t, "s", 1, "push", day), refusal(t, "s", "drop", day), other)
		all := j.all()
		if len(all) != 3 || all[0].Outcome != "" || all[1].Outcome != "" || all[2].Outcome != "success" || all[2].Decision != "" {
			t.Errorf("%s: %q", name, rowsSay(j))
		}
	}
	j := journalOf(allowed(t, "s", 1, "push", day), result(t, "s", 1, "push", day, 1000, "success"), result(t, "s", 1, "push", day, 2000, "failure"))
	if got := rowsSay(j); !slices.Equal(got, []string{"call up.push #1 allow success", "call up.push #1  failure"}) {
		t.Errorf("%q", got)
	}
}

// TestSettlementIsJoined checks that an operator's settlement is shown with the call, next to its
// outcome.
func TestSettlementIsJoined(t *testing.T) {
	settle := func(call uint64, at time.Time) []byte {
		return record(t, audit.Operator{Time: at, Event: "settle failure", Session: "s", Call: call, Actor: "root"})
	}
	j := journalOf(
		allowed(t, "s", 1, "push", day), allowed(t, "s", 2, "push", day), allowed(t, "s", 3, "push", day), allowed(t, "s", 4, "push", day),
		result(t, "s", 1, "push", day, time.Second, "unknown"), result(t, "s", 2, "push", day, time.Second, "success"),
		settle(1, day.Add(time.Minute)), settle(2, day.Add(time.Minute)), settle(3, day.Add(time.Minute)), settle(4, day.Add(-time.Minute)), settle(5, day),
	)
	var got []string
	for _, r := range j.all()[:4] {
		got = append(got, fmt.Sprint(r.Call, " ", r.Outcome, " ", r.Settled, " ", r.SettledBy, " ", r.Open()))
	}
	if want := []string{"1 unknown failure root false", "2 success   false", "3  failure root false", "4    true"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestJournalIsBounded checks the limits for calls and other events, and that nothing is joined to
// a dropped call.
func TestJournalIsBounded(t *testing.T) {
	j := journalOf()
	for n := range maxCalls + 50 {
		at := day.Add(time.Duration(n) * time.Second)
		j.add([][]byte{record(t, audit.Session{Time: at, Event: "session opened", Session: fmt.Sprint(n)}), allowed(t, "s", uint64(n)+1, "push", at)}, 0)
	}
	if s := j.status(); s.Calls > maxCalls || len(j.rows) > maxRows || s.Calls < maxCalls-1 || !s.Full {
		t.Errorf("%d calls, %d rows", s.Calls, len(j.rows))
	}
	j.add([][]byte{result(t, "s", 1, "push", day, time.Millisecond, "success")}, 0)
	if last := j.all()[len(j.all())-1]; last.Decision != "" || last.Outcome != "success" {
		t.Error(says(last))
	}
	if len(j.admitted) > maxCalls || len(j.known) > maxRecordsKnown || len(j.known) != len(j.order) {
		t.Errorf("%d open, %d known, %d in order", len(j.admitted), len(j.known), len(j.order))
	}
	one := record(t, audit.Decision{
		Time: day, Event: "decision", Session: "s", Decision: "refuse", Reason: strings.Repeat("x", 5<<10), Args: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`),
		Names: slices.Repeat([]string{"n"}, 64), Nets: slices.Repeat([]audit.NetVerdict{{Net: "n"}}, 64), Would: &audit.Would{Reason: strings.Repeat("x", 5<<10), Nets: slices.Repeat([]audit.NetVerdict{{Net: "n"}}, 64)},
	})
	r := journalOf(one).all()[0]
	if len(r.Reason) > 2*maxRowReason || len(r.Would.Reason) > 2*maxRowReason || r.Args != nil || len(r.Names) != maxRowNames || len(r.Nets) != maxRowNets || len(r.Would.Nets) != maxRowNets {
		t.Errorf("%d bytes of a reason, %d of arguments, %d names, %d nets", len(r.Reason), len(r.Args), len(r.Names), len(r.Nets))
	}
}

// recordsOf returns records of calls. Each tool has its own kind of result, so that a wrongly
// joined result can be recognized although numbers and tools repeat in later runs of the same
// session.
func recordsOf(t testing.TB, random *rand.Rand) (records [][]byte, truth map[string]string) {
	truth = map[string]string{}
	for n := range 60 {
		came := day.Add(time.Duration(n) * time.Second)
		session, call, tool := fmt.Sprint("s", random.IntN(2)), uint64(random.IntN(3)+1), fmt.Sprint("t", random.IntN(2))
		decision := allowed(t, session, call, tool, came)
		records = append(records, decision)
		if random.IntN(4) == 0 {
			continue // this call never ends
		}
		took := time.Duration(random.IntN(5000)) * time.Microsecond * time.Duration(random.IntN(500)+1)
		outcome := []string{"success", "failure", "unknown"}[random.IntN(3)]
		truth[recordID(decision)] = fmt.Sprint(outcome, " ", float64(took.Microseconds())/1000)
		records = append(records, result(t, session, call, tool, came, took, outcome))
	}
	return records, truth
}

// spoil reorders, duplicates, truncates and changes records, and adds others.
func spoil(random *rand.Rand, records [][]byte) (all [][]byte) {
	for _, r := range records {
		all = append(all, r)
		switch random.IntN(8) {
		case 0:
			all = append(all, r)
		case 1:
			all = append(all, r[:random.IntN(len(r))])
		case 2:
			own := bytes.Clone(r)
			own[random.IntN(len(own))] = 0 // a byte that never occurs in JSON
			all[len(all)-1] = own
		case 3:
			all = append(all, []byte(`{"event":"x","session":"s0","call":1}`), []byte(`[]`), nil)
		}
	}
	random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all
}

// ownResults fails the test if a row has the result of a different call.
func ownResults(t *testing.T, what string, j *journal, truth map[string]string) (joined int) {
	t.Helper()
	for _, r := range j.all() {
		want, ours := truth[r.ID]
		if r.Decision == "" || r.Outcome == "" || !ours {
			continue
		}
		joined++
		if got := fmt.Sprint(r.Outcome, " ", r.Millis); got != want {
			t.Errorf("%s: call %s at %s has the result %s, want %s", what, says(r), r.Time, got, want)
		}
	}
	return joined
}

// TestResultsStayWithTheirCalls checks that all outcomes in ordered records are joined, and that no
// outcome in damaged or reordered records is joined to the wrong call.
func TestResultsStayWithTheirCalls(t *testing.T) {
	from, n := soak.Range(t, 200)
	for seed := from; seed < from+uint64(n); seed++ {
		random := rand.New(rand.NewPCG(seed, 1))
		records, truth := recordsOf(t, random)
		what := fmt.Sprint("seed ", seed)
		if joined := ownResults(t, what, journalOf(records...), truth); joined != len(truth) {
			t.Errorf("%s: %d of %d results are at their calls", what, joined, len(truth))
		}
		j := journalOf()
		for part := range slices.Chunk(spoil(random, records), 1+random.IntN(20)) {
			j.add(part, 0)
		}
		ownResults(t, what+", spoiled", j, truth)
	}
}

// FuzzJournal checks that no record causes a panic, and that each row can be displayed and
// exported.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"event":"decision","session":"s","call":1,"decision":"allow","tool":"x"}` + "\n" + `{"event":"outcome","session":"s","call":1,"tool":"x","ms":1e300}`))
	f.Add(slices.Concat(allowed(f, "s", 1, "push", day), []byte("\n"), result(f, "s", 1, "push", day, 1, "success"), []byte("\n"), refusal(f, "s", "drop", day)))
	f.Add([]byte(`{"event":"outcome","ms":-1e308,"time":"0001-01-01T00:00:00Z"}` + "\n" + `{"event":"conflict","nets":[{"net":"a"}]}`))
	f.Fuzz(func(t *testing.T, records []byte) {
		j := journalOf(bytes.Split(records, []byte("\n"))...)
		rows := j.all()
		for _, r := range rows {
			if _, err := r.JSON(); err != nil {
				t.Errorf("%v: %+v", err, r)
			}
			for _, f := range []filter{{Tool: "x*"}, {Words: "a b"}, {Net: "n"}, {Outcome: "open"}} {
				f.matcher().matches(r)
			}
			if r.Outcome != "" && r.Decision != "" && r.Decision != "allow" {
				t.Errorf("a call that did not pass has a result: %+v", r)
			}
		}
		countCalls(rows, day).Bars()
	})
}

// TestPastAndLive checks that a journal starts with earlier records and continues with live ones,
// and that a record in both yields one row.
func TestPastAndLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	feed := audit.NewFeed(log)
	put := func(r []byte) {
		if err := feed.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	put(allowed(t, "s", 1, "push", day))
	j := newJournal(time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	go j.run(ctx, feed.Follow(maxRecordsHeld), trail.File(path), make(chan []trail.Record, 1))
	await := func(want ...string) {
		t.Helper()
		for more := j.nextChange(); ; more = j.nextChange() {
			if slices.Equal(rowsSay(j), want) {
				return
			}
			select {
			case <-more:
			case <-t.Context().Done():
				t.Fatalf("%q, want %q", rowsSay(j), want)
			}
		}
	}
	await("call up.push #1 allow")
	put(result(t, "s", 1, "push", day, time.Second, "success"))
	put(refusal(t, "s", "drop", day))
	await("call up.push #1 allow success", "call up.drop #0 refuse")
	cancel()
	<-j.done
	if feed = audit.NewFeed(nil); feed.Active() {
		t.Error("a feed that nobody follows is active")
	}
	// Another journal reads everything from the file.
	again := newJournal(time.Now)
	ctx, cancel = context.WithCancel(t.Context())
	go again.run(ctx, audit.NewFeed(log).Follow(maxRecordsHeld), trail.File(path), make(chan []trail.Record, 1))
	j = again
	await("call up.push #1 allow success", "call up.drop #0 refuse")
	cancel()
	<-again.done
}

// openDesk is a desk that returns a state for each session.
type openDesk struct{ *desk }

func (openDesk) State(string) (*gate.State, error) { return &gate.State{}, nil }

// TestRecordRightAfterNew checks that a record written immediately after New reaches the journal
// and the history.
func TestRecordRightAfterNew(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			feed := audit.NewFeed(nil)
			c := New(Options{Proxy: openDesk{&desk{}}, Feed: feed})
			defer c.Close()
			if err := feed.Append(refusal(t, "s", "drop", day)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if rows := rowsSay(c.journal); !slices.Equal(rows, []string{"call up.drop #0 refuse"}) {
				t.Errorf("rows %q", rows)
			}
			if steps, _ := c.history.stepsOf("s"); len(steps) != 1 {
				t.Errorf("steps %+v", steps)
			}
		})
	}
}

// TestUnreadablePastIsReported checks that an error in reading earlier records is reported, and
// that live records are shown nevertheless.
func TestUnreadablePastIsReported(t *testing.T) {
	j := newJournal(time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); <-j.done }()
	feed := audit.NewFeed(nil)
	go j.run(ctx, feed.Follow(maxRecordsHeld), trail.File(filepath.Join(t.TempDir(), "none")), make(chan []trail.Record, 1))
	for more := j.nextChange(); j.status().Past == nil; more = j.nextChange() {
		<-more
	}
	if err := feed.Append(refusal(t, "s", "drop", day)); err != nil {
		t.Fatal(err)
	}
	for more := j.nextChange(); len(j.all()) == 0; more = j.nextChange() {
		<-more
	}
}

// TestUpdatesAreLimited checks that pages are notified of new rows at most once per second,
// including the last row.
func TestUpdatesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal(time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		news := j.updates(ctx)
		told := make(chan time.Duration, 1000)
		begin := time.Now()
		go func() {
			for {
				select {
				case <-news:
					told <- time.Since(begin)
				case <-ctx.Done():
					return
				}
			}
		}()
		for n := range 100 {
			<-time.After(50 * time.Millisecond) // fake time: no real time passes
			j.add([][]byte{allowed(t, "s", uint64(n)+1, "push", day)}, 0)
		}
		<-time.After(10 * time.Second)
		if n := len(told); n < 5 || n > 7 {
			t.Errorf("told %d times in 15 seconds", n)
		}
		last := time.Duration(0)
		for range len(told) {
			at := <-told
			if last > 0 && at-last < updateInterval {
				t.Errorf("told at %s and at %s", last, at)
			}
			last = at
		}
		if last < 5*time.Second {
			t.Errorf("the last row came after %s, and the last word at %s", 5*time.Second, last)
		}
		j.add([][]byte{[]byte("{}"), []byte("{")}, 0) // no rows
		<-time.After(10 * time.Second)
		if len(told) > 0 {
			t.Error("told of nothing")
		}
		cancel()
	})
}

// TestUpdatesFromTheCall checks that updates signals a row that is added immediately after it
// returns.
func TestUpdatesFromTheCall(t *testing.T) {
	for n := range 200 {
		synctest.Test(t, func(t *testing.T) {
			j := newJournal(time.Now)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			news := j.updates(ctx)
			j.add([][]byte{allowed(t, "s", uint64(n)+1, "push", day)}, 0)
			select {
			case <-news:
			case <-time.After(time.Minute): // fake time: no real time passes
				t.Fatal("no signal")
			}
		})
	}
}

// manyRows returns a full journal, with texts of the maximum length.
func manyRows(b testing.TB) []*row {
	j := journalOf()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range maxCalls {
		at := day.Add(time.Duration(n) * time.Second)
		if n%3 == 0 {
			j.add([][]byte{record(b, audit.Decision{
				Time: at, Event: "decision", Session: fmt.Sprint("s", n%50), Principal: "bob", Client: "claude", Upstream: "up", Tool: fmt.Sprint("tool", n%100), Decision: "refuse", Kind: "blocked",
				Reason: strings.Repeat("The call requires something before it. ", 25), Nets: slices.Repeat([]audit.NetVerdict{{Net: "net", Verdict: "blocked", Rule: "a.rules:1:1"}}, 4),
			})}, 0)
			continue
		}
		tool := fmt.Sprint("tool", random.IntN(100))
		j.add([][]byte{allowed(b, fmt.Sprint("s", n%50), uint64(n), tool, at), result(b, fmt.Sprint("s", n%50), uint64(n), tool, at, 1000, "success")}, 0)
	}
	return j.all()
}

// BenchmarkFilter applies each filter to a full journal. A page should take at most 100 ms.
func BenchmarkFilter(b *testing.B) {
	all := manyRows(b)
	for name, f := range map[string]filter{
		"none": {}, "tool": {Tool: "ool9"}, "glob": {Tool: "up.tool?"}, "decision": {Decision: "refuse"}, "outcome": {Outcome: "success"}, "session": {Session: "s7"},
		"principal": {Principal: "bob"}, "client": {Client: "claude"}, "net": {Net: "net"}, "kind": {Kind: "blocked"}, "words": {Words: "requires something nowhere"},
		"since": {since: day.Add(time.Hour)}, "all": {Tool: "tool", Decision: "refuse", Session: "s7", Principal: "bob", Client: "claude", Net: "net", Kind: "blocked", Words: "requires"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				body := activityBody{Filter: f}
				body.selectRows(all, "")
			}
		})
	}
	b.Run("counts", func(b *testing.B) {
		for b.Loop() {
			countCalls(all, day)
		}
	})
}

// others is a database that other processes write to.
type others struct {
	backend.Backend
	mu      sync.Mutex
	records []backend.Record
}

func (o *others) put(record []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.records = append(o.records, backend.Record{Event: backend.Event{Time: time.Now(), Object: record}, Writer: "w", Seq: uint64(len(o.records)) + 1})
}

func (o *others) Heads(context.Context) ([]backend.Record, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.records[max(len(o.records)-1, 0):], nil
}

func (o *others) Records(_ context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Clone(o.records)
	return func(yield func(backend.Record, error) bool) {
		for _, r := range all {
			if r.Seq > q.After && !yield(r, nil) {
				return
			}
		}
	}
}

func (o *others) Writer() string { return "me" }

// TestOtherProcessesAreRead checks that records from other processes arrive once while a page is
// being viewed, and are not read otherwise.
func TestOtherProcessesAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &others{}
		at := time.Now()
		db.put(allowed(t, "s", 1, "push", at))
		j := newJournal(time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		feed := audit.NewFeed(nil)
		go j.run(ctx, feed.Follow(maxRecordsHeld), trail.Database{Backend: db}, make(chan []trail.Record, 1))
		synctest.Wait()
		j.markViewed()
		own, theirs := refusal(t, "s", "own", at), refusal(t, "s", "theirs", at)
		for _, r := range [][]byte{own, theirs, result(t, "s", 1, "push", at, time.Second, "success")} {
			db.put(r)
		}
		if err := feed.Append(own); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		synctest.Wait()
		if got := rowsSay(j); !slices.Equal(got, []string{"call up.push #1 allow success", "call up.own #0 refuse", "call up.theirs #0 refuse"}) {
			t.Errorf("%q", got)
		}
		<-time.After(2 * othersAfterView)
		db.put(refusal(t, "s", "later", at))
		<-time.After(othersAfterView)
		if len(j.all()) != 3 { // a page has been viewed
			t.Errorf("%q", rowsSay(j))
		}
		<-time.After(othersAfterView)
		if len(j.all()) != 4 {
			t.Errorf("%q", rowsSay(j))
		}
		cancel()
		<-j.done
	})
}
