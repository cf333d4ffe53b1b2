package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/soak"
)

// keep is the age limit of records in these tests.
const keep = 10 * time.Hour

// A past is a database written by processes at simulated times.
type past struct {
	*testing.T
	now    time.Time
	policy *gate.Policy
	open   func() backend.Backend
	forger forger
	n      int // number of sessions
}

// A forger removes records by hand, and puts them back.
type forger interface {
	remove(writer string, seq uint64) // removes a record, or the whole chain if seq is 0
	restore()                         // the removed records
}

// A table edits the records of PostgreSQL.
type table struct {
	*testing.T
	dsn string
}

func (f table) remove(writer string, seq uint64) {
	of := fmt.Sprintf("writer = (SELECT no FROM petrigate_writer WHERE name = '%s')", writer)
	if seq > 0 {
		of += fmt.Sprintf(" AND seq = %d", seq)
	}
	postgrestest.Run(f.T, f.dsn, "CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM petrigate_record WHERE false")
	postgrestest.Run(f.T, f.dsn, "INSERT INTO kept SELECT * FROM petrigate_record WHERE "+of)
	postgrestest.Run(f.T, f.dsn, "DELETE FROM petrigate_record WHERE "+of)
}

func (f table) restore() {
	postgrestest.Run(f.T, f.dsn, "INSERT INTO petrigate_record SELECT * FROM kept; DROP TABLE kept")
}

// A logFile has the records of the embedded driver. Removed records leave blanks, since the file is
// in use.
type logFile struct {
	*testing.T
	name string
	kept []byte
}

func (f *logFile) remove(writer string, seq uint64) {
	f.Helper()
	data, err := os.ReadFile(f.name)
	if err != nil {
		f.Fatal(err)
	}
	f.kept = bytes.Clone(data)
	start := fmt.Sprintf(`{"writer":%q,"seq":`, writer)
	if seq > 0 {
		start += fmt.Sprint(seq) + ","
	}
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte(start)) {
			copy(line, bytes.Repeat([]byte{' '}, len(line)-1))
		}
	}
	if bytes.Equal(data, f.kept) {
		f.Fatalf("there is no record %d of %s", seq, writer)
	}
	f.write(data)
}

func (f *logFile) restore() { f.write(f.kept) }

// write changes the file without changing its length.
func (f *logFile) write(data []byte) {
	f.Helper()
	file, err := os.OpenFile(f.name, os.O_RDWR, 0)
	if err == nil {
		_, err = file.WriteAt(data, 0)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		f.Fatal(err)
	}
}

// onBoth runs a test on both drivers.
func onBoth(t *testing.T, test func(*past)) {
	t.Run("sqlite", func(t *testing.T) {
		path := place(t)
		test(newPast(t, func() (backend.Backend, error) {
			return journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal})
		}, &logFile{T: t, name: path + "-log"}))
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.NewSchema(t)
		test(newPast(t, func() (backend.Backend, error) {
			return postgres.Open(t.Context(), postgres.Options{DSN: dsn})
		}, table{t, dsn}))
	})
}

func newPast(t *testing.T, open func() (backend.Backend, error), f forger) *past {
	return &past{T: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), policy: policyOf(t), forger: f, open: func() backend.Backend {
		b, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		return b
	}}
}

// A proc is a process of a past.
type proc struct {
	*past
	b    backend.Backend
	d    *store.Durable
	open map[admission.Key][]uint64 // open calls
}

// start starts a process; its first record contains the ends of the other chains.
func (p *past) start() *proc {
	p.Helper()
	o := &proc{past: p, b: p.past().open(), open: map[admission.Key][]uint64{}}
	o.d = store.NewDurable(p.Context(), store.DurableOptions{Backend: o.b, Policy: p.policy, Now: func() time.Time { return p.now }})
	heads, err := o.d.Heads(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	o.write(audit.Process{Time: p.now, Event: "start", Process: o.b.Writer(), Driver: "test", Heads: heads})
	return o
}

func (p *past) past() *past { return p }

func (o *proc) write(events ...audit.Event) {
	o.Helper()
	c, err := o.d.Append(o.Context(), events...)
	if err == nil {
		err = c.Wait(o.Context())
	}
	if err != nil {
		o.Fatal(err)
	}
}

// notes writes n records without a call.
func (o *proc) notes(n int) {
	o.Helper()
	var events []audit.Event
	for range n {
		events = append(events, audit.Switch{Time: o.now, Event: "activate", Net: "some", Actor: "test"})
	}
	if n > 0 {
		o.write(events...)
	}
}

// call opens a call in its own session.
func (o *proc) call() (k admission.Key) {
	o.Helper()
	o.n++
	k = admission.Key{Session: fmt.Sprint("s", o.n), Principal: "ann"}
	if err := o.d.Open(o.Context(), admission.SessionInfo{Key: k, Since: o.now, Lasting: true}); err != nil {
		o.Fatal(err)
	}
	o.write(audit.Session{Time: o.now, Event: "session opened", Session: k.Session, Principal: k.Principal, Process: o.b.Writer()})
	err := admission.Update(o.Context(), o.d, k, func(s *gate.State) (admission.Change, error) {
		d, delta := s.Policy().Decide(s, gate.Call{Tool: "x", Time: o.now}, nil)
		n := d.(*gate.Allow).Ticket.Number
		o.open[k] = append(o.open[k], n)
		return admission.Change{Delta: delta, Admits: true, Events: []audit.Event{audit.Decision{Time: o.now, Event: "decision", Session: k.Session, Call: n, Tool: "x", Decision: "allow"}}}, nil
	})
	if err != nil {
		o.Fatal(err)
	}
	return k
}

// settle ends a call of a session.
func (o *proc) settle(k admission.Key) {
	o.Helper()
	n := o.open[k][0]
	delete(o.open, k)
	err := admission.Update(o.Context(), o.d, k, func(s *gate.State) (admission.Change, error) {
		return admission.Change{Delta: s.Policy().SettleAt(s, n, gate.Success, o.now), Events: []audit.Event{audit.Outcome{Time: o.now, Event: "outcome", Session: k.Session, Call: n, Tool: "x", Outcome: "success"}}}, nil
	})
	if err != nil {
		o.Fatal(err)
	}
}

// end shuts down the process.
func (o *proc) end() {
	o.Helper()
	o.write(audit.Process{Time: o.now, Event: "end", Process: o.b.Writer()})
	if err := errors.Join(o.d.Close(o.Context()), o.b.Close()); err != nil {
		o.Fatal(err)
	}
}

// kill ends the process without a shutdown and makes the other processes forget it.
func (o *proc) kill(by *proc) {
	o.Helper()
	_ = o.b.Close()
	id := backend.PartID{Scope: "process", Name: o.b.Writer()}
	parts, err := by.b.Load(o.Context(), id)
	if err != nil {
		o.Fatal(err)
	}
	op := &backend.Op{Writes: []backend.Write{{ID: id, Version: parts[0].Version}}}
	if err := by.b.Commit(o.Context(), []*backend.Op{op}); err != nil || op.Err != nil {
		o.Fatal(err, op.Err)
	}
}

// retain runs a round, which must succeed.
func (o *proc) retain() {
	o.Helper()
	if err := store.RetainOnce(o.Context(), o.d, keep, func() error { return nil }); err != nil {
		o.Fatal(err)
	}
}

// verify returns the findings of audit verify.
func (o *proc) verify() (faults string, r trail.Report) {
	o.Helper()
	r, err := trail.VerifyChains(o.Context(), trail.Database{Backend: o.b})
	if err != nil {
		o.Fatal(err)
	}
	for _, f := range r.Faults {
		faults += f.String() + "\n"
	}
	return faults, r
}

// sound fails the test if the log does not verify.
func (o *proc) sound(removed int) {
	o.Helper()
	faults, r := o.verify()
	n := 0
	if r.Removed != nil {
		n = int(r.Removed.Records)
	}
	if faults != "" || n != removed {
		o.Fatalf("%d records removed, want %d; %s", n, removed, faults)
	}
}

// records describes the remaining records.
func (o *proc) records() (all []string) {
	o.Helper()
	for r, err := range o.b.Records(o.Context(), backend.Query{}) {
		if err != nil {
			o.Fatal(err)
		}
		var e struct{ Event, Session string }
		if err := json.Unmarshal(r.Object, &e); err != nil {
			o.Fatal(err)
		}
		all = append(all, strings.TrimSpace(e.Event+" "+e.Session))
	}
	return all
}

func (p *past) later(t time.Duration) { p.now = p.now.Add(t) }

// TestRetention: old records are removed in small transactions; records that are still needed stay.
func TestRetention(t *testing.T) {
	t.Parallel()
	onBoth(t, func(p *past) {
		a := p.start()
		a.notes(900)
		p.later(keep / 2)
		b := p.start()
		b.notes(3)
		open := b.call()
		b.notes(2)
		p.later(keep/2 + time.Hour)
		a.notes(1)
		transactions := 0
		if err := store.RetainOnce(t.Context(), a.d, keep, func() error { transactions++; return nil }); err != nil {
			t.Fatal(err)
		}
		if transactions != 19 { // of 50 records each
			t.Errorf("901 records were removed in %d transactions", transactions)
		}
		a.sound(901)
		a.retain() // no round is due
		a.sound(901)

		p.later(keep + time.Hour)
		b.retain()
		want := []string{"decision s1", "activate", "activate", "removed", "removed"}
		if got := a.records(); !slices.Equal(got, want) {
			t.Errorf("left are %q, want %q", got, want)
		}
		a.sound(901 + 1 + 5)
		b.settle(open)
		p.later(2 * keep)
		a.retain()
		if got := a.records(); !slices.Equal(got, []string{"outcome s1", "removed"}) { // the last record of each process
			t.Errorf("left are %q", got)
		}
		b.notes(1)
		a.notes(1)
		a.sound(901 + 1 + 5 + 5)
	})
}

// TestRetentionWhole: the chain of an ended process is removed completely, although a remaining
// chain refers to it. The removal is not repeated forever.
func TestRetentionWhole(t *testing.T) {
	t.Parallel()
	onBoth(t, func(p *past) {
		keeper := p.start()
		for range 5 {
			o := p.start()
			o.notes(2)
			o.end()
		}
		p.later(keep - time.Minute)
		named := p.start() // its start record refers to all chains
		p.later(2 * time.Minute)
		keeper.retain()
		keeper.sound(5*4 + 1)
		if got := strings.Join(keeper.records(), " "); got != "start removed" {
			t.Errorf("left are %s", got)
		}
		_, first := keeper.event()
		for range 3 {
			p.later(keep)
			named.notes(1)
			keeper.notes(1)
			keeper.retain()
			if faults, _ := keeper.verify(); faults != "" {
				t.Fatal(faults)
			}
		}
		_, last := keeper.event()
		if len(first.Chains) != 6 || len(last.Chains) != 2 {
			t.Errorf("%d and %d chains are named, want 6 and 2", len(first.Chains), len(last.Chains))
		}
	})
}

// event returns the newest removal event, and the number of its record.
func (o *proc) event() (r backend.Record, e audit.Removed) {
	o.Helper()
	for one, err := range o.b.Records(o.Context(), backend.Query{}) {
		var other audit.Removed
		if err != nil {
			o.Fatal(err)
		}
		if json.Unmarshal(one.Object, &other) == nil && other.Event == "removed" {
			r, e = one, other
		}
	}
	return r, e
}

// TestRetentionTogether: of two concurrent processes, only one removes records.
func TestRetentionTogether(t *testing.T) {
	t.Parallel()
	onBoth(t, func(p *past) {
		all := []*proc{p.start(), p.start(), p.start()}
		for _, o := range all {
			o.notes(450)
		}
		p.later(keep + time.Hour)
		for _, o := range all {
			o.notes(1)
		}
		var wait sync.WaitGroup
		errs := make([]error, len(all))
		for i, o := range all {
			wait.Go(func() { errs[i] = store.RetainOnce(t.Context(), o.d, keep, func() error { return nil }) })
		}
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		all[0].sound(3 * 451)
		if got := len(all[0].records()); got != 4 {
			t.Errorf("%d records are left", got)
		}
	})
}

var errKilled = errors.New("killed")

// TestRetentionKilled: if a process is killed during a removal, the log still verifies, and another
// process continues.
func TestRetentionKilled(t *testing.T) {
	t.Parallel()
	onBoth(t, func(p *past) {
		a, b := p.start(), p.start()
		a.notes(900)
		b.notes(300)
		p.later(keep + time.Hour)
		a.notes(1)
		b.notes(1)
		left := 2
		err := store.RetainOnce(t.Context(), a.d, keep, func() error {
			if left--; left == 0 {
				return errKilled
			}
			return nil
		})
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		a.kill(b)
		b.sound(901 + 301)
		if got := len(b.records()); got <= 3 || got >= 901+301+3 {
			t.Errorf("%d records are left", got)
		}
		p.later(time.Hour)
		b.retain()
		b.sound(901 + 301)
		if got := len(b.records()); got != 3 {
			t.Errorf("%d records are left", got)
		}
	})
}

// TestRetentionUnnamed: a start record does not refer to a chain that is about to be removed, because
// the removal event might be removed before the start record.
func TestRetentionUnnamed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(p *past) {
		keeper := p.start()
		p.start().end()
		p.start().end()
		p.later(keep + time.Hour)
		keeper.notes(1)
		if err := store.RetainOnce(t.Context(), keeper.d, keep, func() error { return errKilled }); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if all, err := keeper.b.Heads(t.Context()); err != nil || len(all) < 2 {
			t.Fatal(all, err)
		}
		if named, err := keeper.d.Heads(t.Context()); err != nil || len(named) != 0 {
			t.Error(named, err)
		}
	})
}

// TestRetentionForged: records removed by hand are still detected, and so is a change of the removal
// part.
func TestRetentionForged(t *testing.T) {
	t.Parallel()
	onBoth(t, func(p *past) {
		a := p.start()
		a.notes(20)
		p.later(keep + time.Hour)
		a.notes(5)
		b := p.start()
		b.notes(3)
		b.retain()
		b.notes(2)
		b.sound(21)
		event, _ := b.event()
		a.retain() // at the same time
		for _, c := range []struct {
			name, writer string
			seq          uint64
			want         string
		}{
			{"the next record", a.b.Writer(), 22, "record 23 follows record 21"},
			{"one in between", a.b.Writer(), 24, "record 25 follows record 23"},
			{"the chain", a.b.Writer(), 0, "missing"},
			{"the event", b.b.Writer(), event.Seq, fmt.Sprintf("record %d follows record %d", event.Seq+1, event.Seq-1)},
		} {
			p.forger.remove(c.writer, c.seq)
			if faults, _ := b.verify(); !strings.Contains(faults, c.want) {
				t.Errorf("%s: found %q, want %q", c.name, faults, c.want)
			}
			p.forger.restore()
			b.sound(21)
		}
		b.further()
		if faults, _ := b.verify(); !strings.Contains(faults, "the hash does not match") {
			t.Errorf("a further one by the copy: found %q", faults)
		}
	})
}

// further changes the copy of the event as if one more record was removed.
func (o *proc) further() {
	o.Helper()
	parts, err := o.b.Load(o.Context(), backend.RemovalID)
	if err != nil {
		o.Fatal(err)
	}
	data := bytes.Replace(parts[0].Data, []byte(`"seq":21`), []byte(`"seq":22`), 1)
	op := &backend.Op{Writes: []backend.Write{{ID: backend.RemovalID, Version: parts[0].Version, Data: data}}}
	if err := o.b.Commit(o.Context(), []*backend.Op{op}); err != nil || op.Err != nil || bytes.Equal(data, parts[0].Data) {
		o.Fatal(err, op.Err)
	}
}

// TestRetentionOfChanged: a chain that was changed by hand is not removed, so that verify still
// finds the change.
func TestRetentionOfChanged(t *testing.T) {
	t.Parallel()
	onBoth(t, func(p *past) {
		a := p.start()
		a.notes(20)
		b := p.start()
		b.notes(5)
		p.forger.remove(a.b.Writer(), 7)
		p.later(keep + time.Hour)
		a.notes(1)
		b.notes(1)
		b.retain()
		faults, r := b.verify()
		faults, damage, changed := strings.Cut(faults, "petrigate.db-log: ") // the check of the file finds the change too
		if changed != strings.HasSuffix(p.Name(), "sqlite") || changed && !strings.HasSuffix(damage, "a line after step 2 was changed\n") {
			t.Error(damage)
		}
		if !strings.Contains(faults, "record 8 follows record 6") || strings.Count(faults, "\n") != 1 || r.Removed == nil || r.Removed.Records != 6 {
			t.Errorf("%s %+v", faults, r.Removed)
		}
	})
}

// TestRetentionRandom: random histories of processes that start, write, end and are killed, also
// during a removal, always verify. If one more record is removed by hand, verify detects it, unless
// it is the last record of a chain and no start record refers to it.
func TestRetentionRandom(t *testing.T) {
	t.Parallel()
	onBoth(t, func(p *past) {
		usual := 3
		if strings.HasSuffix(p.Name(), "postgres") {
			usual = 1
		}
		from, count := soak.Range(p.T, usual)
		for seed := from; seed < from+uint64(count); seed++ {
			random := rand.New(rand.NewPCG(seed, 29))
			o := p.history(random)
			o.missed(random, seed)
			o.end()
			p.later(10 * keep)
		}
	})
}

// history creates a random history and returns a process that is still running at its end.
func (p *past) history(random *rand.Rand) *proc {
	p.Helper()
	procs := []*proc{p.start()}
	for range 60 {
		i := random.IntN(len(procs))
		o := procs[i]
		switch random.IntN(8) {
		case 0, 1:
			if len(procs) < 5 {
				procs = append(procs, p.start())
			}
		case 2:
			o.notes(random.IntN(30))
		case 3:
			o.call()
		case 4:
			for k := range o.open {
				o.settle(k)
				break
			}
		case 5:
			p.later(time.Duration(random.IntN(400)) * time.Minute)
		case 6:
			if len(procs) > 1 {
				procs = slices.Delete(procs, i, i+1)
				if random.IntN(2) == 0 {
					o.end()
				} else {
					o.kill(procs[0])
				}
			}
		case 7:
			left := 1 + random.IntN(12)
			err := store.RetainOnce(p.Context(), o.d, keep, func() error {
				if left--; left == 0 {
					return errKilled
				}
				return nil
			})
			if err != nil && !errors.Is(err, errKilled) {
				p.Fatal(err)
			}
			if faults, _ := procs[0].verify(); faults != "" {
				p.Fatal(faults)
			}
		}
	}
	p.later(keep)
	procs[0].retain()
	for _, o := range procs[1:] {
		o.kill(procs[0])
	}
	return procs[0]
}

// missed removes single records by hand, and checks that verify detects each removal.
func (o *proc) missed(random *rand.Rand, seed uint64) {
	o.Helper()
	var all []backend.Record
	last, named := map[string]uint64{}, map[string]bool{}
	for r, err := range o.b.Records(o.Context(), backend.Query{}) {
		if err != nil {
			o.Fatal(err)
		}
		var e audit.Process
		if json.Unmarshal(r.Object, &e) == nil {
			for _, h := range e.Heads {
				named[fmt.Sprint(h.Writer, h.Seq)] = true
			}
		}
		all, last[r.Writer] = append(all, r), r.Seq
	}
	if faults, _ := o.verify(); faults != "" {
		o.Fatalf("seed %d: %s", seed, faults)
	}
	for range min(8, len(all)) {
		r := all[random.IntN(len(all))]
		if r.Seq == last[r.Writer] && !named[fmt.Sprint(r.Writer, r.Seq)] || r.Writer == o.b.Writer() && r.Seq == last[r.Writer] {
			continue
		}
		o.forger.remove(r.Writer, r.Seq)
		if faults, _ := o.verify(); faults == "" {
			o.Errorf("seed %d: nobody misses record %d of %s: %s", seed, r.Seq, r.Writer, r.Object)
		}
		o.forger.restore()
	}
	if faults, _ := o.verify(); faults != "" {
		o.Fatalf("seed %d: %s", seed, faults)
	}
}

// TestRetentionEndsWithContext: Run returns when its context ends.
func TestRetentionEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store.NewRetention(durable(t, database(t, place(t)), policyOf(t), nil), keep).Run(ctx)
}
