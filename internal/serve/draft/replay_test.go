package draft

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// TestReplayCountsChanges checks that changed decisions are counted and listed. The log comes from
// a proxy with different rules and contains six calls; only delete was refused.
func TestReplayCountsChanges(t *testing.T) {
	path, err := filepath.Abs("testdata/records.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c := folder(t, nil)
	log := &Log{Source: trail.File(path), Name: "audit.jsonl"}
	d := desk(t, c, Options{Log: func() *Log { return log }})
	id := of(t, c, Rules).ID
	for _, one := range []struct {
		text  string
		since time.Time
		want  string
	}{
		{someRules, time.Time{}, "14 records, 6 decisions: 6 agreed, 0 refused, 0 asked, 0 allowed, 0 unknown, 0 left; same true; "},
		{"limit deploy to 1 per hour\nrequire human-approval before lint\n", time.Time{},
			"14 records, 6 decisions: 3 agreed, 1 refused, 1 asked, 1 allowed, 0 unknown, 0 left; same false; lint allow>ask, delete refuse>allow, deploy allow>refuse"},
		{"block *", time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), "2 records, 0 decisions: 0 agreed, 0 refused, 0 asked, 0 allowed, 0 unknown, 12 left; same false; "},
	} {
		r, err := d.Replay(t.Context(), Draft{Of: id, Text: one.text}, one.since)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, v := range r.Diverges {
			all = append(all, v.Tool+" "+v.Was+">"+v.Now)
		}
		got := fmt.Sprintf("%d records, %d decisions: %d agreed, %d refused, %d asked, %d allowed, %d unknown, %d left; same %v; %s",
			r.Records, r.Decisions, r.Agreed, r.Refused, r.Asked, r.Allowed, r.Unknown, r.Left, r.Same, strings.Join(all, ", "))
		if got != one.want || r.Ended != "" || r.More() != 0 || r.Read() != int(r.Records) {
			t.Errorf("%q:\n%s, want\n%s", one.text, got, one.want)
		}
	}
	if _, err := d.Replay(t.Context(), Draft{Of: id, Text: "blokc"}, time.Time{}); err == nil || !strings.Contains(err.Error(), "a.rules:1:1") {
		t.Errorf("%v", err)
	}
	log = &Log{Source: trail.File("nothing.jsonl"), Name: "nothing.jsonl"}
	if _, err := d.Replay(t.Context(), Draft{Of: id, Text: someRules}, time.Time{}); err == nil || !strings.Contains(err.Error(), "reading nothing.jsonl") {
		t.Errorf("%v", err)
	}
	log = nil
	if _, err := d.Replay(t.Context(), Draft{Of: id, Text: someRules}, time.Time{}); !errors.Is(err, ErrNoRecord) {
		t.Errorf("%v", err)
	}
}

// An endless is a log that yields records of one call forever.
type endless struct{}

func (endless) Records(context.Context, *trail.Filter) iter.Seq2[trail.Record, error] {
	return func(yield func(trail.Record, error) bool) {
		for n := uint64(1); yield(trail.Record{Seq: n, Event: []byte(`{"event":"outcome","session":"s","call":1,"outcome":"success"}`)}, nil); n++ {
		}
	}
}

// TestReplayIsBounded checks that the number of records and the duration are limited, and that the
// result says so.
func TestReplayIsBounded(t *testing.T) {
	c := folder(t, nil)
	draft := Draft{Of: of(t, c, Rules).ID, Text: someRules}
	d := desk(t, c, Options{Log: func() *Log { return &Log{Source: endless{}, Name: "endless"} }})
	if r, err := d.Replay(t.Context(), draft, time.Time{}); err != nil || r.Read() != maxRecords || r.Ended != "100000 records were read" {
		t.Errorf("%+v, %v", r, err)
	}
	result, err := policy.Build(policy.FromConfig(c))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{
			InForce: func() (*config.Config, *policy.Result) { return c, result },
			Log:     func() *Log { return &Log{Source: stalled{begun: make(chan struct{})}, Name: "stalled"} },
		})
		defer d.Close()
		r, err := d.Replay(t.Context(), draft, time.Time{})
		if err != nil || r.Ended != "10 s have passed" || r.Took != replayTime {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
