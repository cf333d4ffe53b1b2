package trail_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// rows are a database's records in commit order.
type rows struct {
	backend.Backend
	all  []backend.Record
	own  string // this process's writer
	away error
}

func (r *rows) Writer() string { return r.own }

// Load implements [backend.Backend]. No records were removed.
func (r *rows) Load(_ context.Context, ids ...backend.PartID) ([]backend.Part, error) {
	return make([]backend.Part, len(ids)), r.away
}

func (r *rows) Heads(context.Context) ([]backend.Record, error) {
	if r.away != nil {
		return nil, r.away
	}
	last := map[string]backend.Record{}
	var order []string
	for _, row := range r.all {
		if _, ok := last[row.Writer]; !ok {
			order = append(order, row.Writer)
		}
		last[row.Writer] = row
	}
	var heads []backend.Record
	for _, w := range order {
		heads = append(heads, last[w])
	}
	return heads, nil
}

func (r *rows) Records(_ context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	return func(yield func(backend.Record, error) bool) {
		left := q.Limit
		for _, row := range r.all {
			if q.Writer != "" && (row.Writer != q.Writer || row.Seq <= q.After) || row.Time.Before(q.Since) {
				continue
			}
			if !yield(row, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// add appends a record to a writer's chain.
func (r *rows) add(writer, object string) {
	var before audit.Place
	for _, row := range r.all {
		if row.Writer == writer {
			before = audit.Place{Seq: row.Seq, Hash: row.Hash}
		}
	}
	row := backend.Record{Event: backend.Event{Time: time.Unix(int64(len(r.all)), 0), Object: []byte(object)}, Writer: writer, Seq: before.Seq + 1}
	row.Hash = audit.Link(before.Hash, row.Seq, row.Object)
	r.all = append(r.all, row)
}

// twoChains returns a database with two writers. The second names the end of the first.
func twoChains() *rows {
	r := &rows{}
	r.add("a", `{"event":"start"}`)
	for range 3 {
		r.add("a", `{"event":"outcome"}`)
	}
	last := r.all[3]
	start, _ := json.Marshal(audit.Process{Event: "start", Heads: []audit.Head{{Writer: "a", Seq: last.Seq, Hash: hex.EncodeToString(last.Hash[:])}}})
	r.add("b", string(start))
	r.add("a", `{"event":"outcome"}`)
	r.add("b", `{"event":"outcome"}`)
	return r
}

func TestChains(t *testing.T) {
	db := twoChains()
	for _, c := range []struct {
		name   string
		change func(r *rows)
		want   string
	}{
		{"sound", func(*rows) {}, ""},
		{"changed", func(r *rows) { r.all[1].Object = []byte(`{"event":"x"}`) }, "chain a, record 2: the hash does not match"},
		{"in another session", func(r *rows) { r.all[1].Session = "x" }, "chain a, record 2: its session column is"},
		{"removed", func(r *rows) { r.all = slices.Delete(r.all, 1, 2) }, "chain a, record 2: record 3 follows record 1"},
		{"end removed", func(r *rows) { r.all = slices.Delete(slices.Delete(r.all, 5, 6), 2, 4) }, "chain a, record 3: records 3 to 4 are missing at the end: the first record of chain b names them"},
		{"chain removed", func(r *rows) {
			r.all = slices.DeleteFunc(r.all, func(row backend.Record) bool { return row.Writer == "a" })
		}, "chain a, record 1: the chain is missing"},
		{"written anew", func(r *rows) {
			own := *r
			r.all = nil
			for range 4 {
				r.add("a", `{"event":"forged"}`)
			}
			r.all = append(r.all, own.all[4], own.all[6])
		}, "chain a, record 4: it differs from the record that the first record of chain b names"},
	} {
		changed := &rows{all: slices.Clone(db.all)}
		c.change(changed)
		r, err := trail.VerifyChains(t.Context(), trail.Database{Backend: changed})
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" != r.OK() || c.want != "" && (len(r.Faults) != 1 || !strings.HasPrefix(r.Faults[0].String(), c.want)) {
			t.Errorf("%s: %+v, want %q", c.name, r.Faults, c.want)
		}
	}
	alone := &rows{all: db.all[:4]}
	if r, err := trail.VerifyChains(t.Context(), trail.Database{Backend: alone}); err != nil || !r.OK() || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "the next proxy that starts") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFollowDatabase checks that every record of every writer is passed on once.
func TestFollowDatabase(t *testing.T) {
	db := twoChains()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	err := trail.Database{Backend: db}.Follow(ctx, time.Time{}, func(trail.Record) error {
		if seen++; seen == len(db.all) {
			cancel()
		}
		return nil
	})
	if seen != 7 || err == nil {
		t.Error(seen, err)
	}
}

// TestColumns checks that the columns of a row agree with the object of its record.
func TestColumns(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		change func(row *backend.Record)
		want   string
	}{
		{"as written", func(*backend.Record) {}, ""},
		{"of all sessions", func(row *backend.Record) { row.Session = "" }, ""},
		{"of no text", func(row *backend.Record) {
			row.Session, row.Object = "\xff\xfe", []byte(`{"event":"outcome","session":"\ufffd\ufffd"}`)
			row.Hash = audit.Link([32]byte{}, 1, row.Object)
		}, ""},
		{"committed later", func(row *backend.Record) { row.Time = at.Add(time.Hour) }, ""},
		{"clock set back", func(row *backend.Record) { row.Time = at.Add(-time.Minute) }, ""},
		{"hidden from its time", func(row *backend.Record) { row.Time = at.Add(-time.Hour) },
			"chain a, record 1: its time column is 2026-11-23T11:00:00Z, before the record's 2026-11-23T12:00:00Z: the column was changed"},
		{"hidden from its session", func(row *backend.Record) { row.Session = "other" },
			`chain a, record 1: its session column is "other", but the record has "s": the column was changed`},
	} {
		r := &rows{}
		r.add("a", `{"time":"2026-11-23T12:00:00Z","event":"outcome","session":"s"}`)
		r.all[0].Session, r.all[0].Time = "s", at
		c.change(&r.all[0])
		report, err := trail.VerifyChains(t.Context(), trail.Database{Backend: r})
		got := ""
		if len(report.Faults) > 0 {
			got = report.Faults[0].String()
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}
