package trail_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// day is a log of one session with two calls, one of them refused, and an approval.
var day = []string{
	`{"time":"2026-01-02T08:00:00Z","event":"session opened","session":"s1","principal":"ann","process":"p"}`,
	`{"time":"2026-01-02T08:00:01Z","event":"decision","session":"s1","principal":"ann","call":1,"upstream":"up","tool":"push","names":["push","git.push"],"decision":"allow","nets":[{"net":"n","verdict":"gated","transition":"t"}],"policy":"f"}`,
	`{"time":"2026-01-02T08:00:02Z","event":"outcome","session":"s1","call":1,"tool":"up.push","outcome":"success","ms":12.5}`,
	`{"time":"2026-01-02T08:00:03Z","event":"decision","session":"s1","principal":"ann","upstream":"up","tool":"push","names":["push"],"decision":"refuse","kind":"blocked","nets":[{"net":"n","verdict":"blocked","rule":"a.rules:1:1"}],"reason":"no","policy":"f"}`,
	`{"time":"2026-01-02T08:00:04Z","event":"decision","session":"s2","principal":"bob","call":1,"upstream":"up","tool":"deploy","decision":"allow","approval":"a7","actor":"eve","channel":"cli","policy":"f"}`,
	`{"time":"2026-01-02T08:00:05Z","event":"outcome","session":"s2","call":1,"tool":"up.deploy","outcome":"failure","ms":1000}`,
	`{"time":"2026-01-02T08:00:06Z","event":"decision","session":"s2","principal":"bob","upstream":"up","tool":"deploy","decision":"refuse","kind":"approval","approval":"a8","actor":"eve","channel":"cli","policy":"f"}`,
	`{"time":"2026-01-02T08:00:07Z","event":"activate","net":"n","actor":"root"}`,
}

func dayLog(t *testing.T) trail.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, r := range day {
		if err := log.Append([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	return trail.File(path)
}

func at(second int) time.Time { return time.Date(2026, 1, 2, 8, 0, second, 0, time.UTC) }

func TestFilter(t *testing.T) {
	log := dayLog(t)
	for _, c := range []struct {
		filter trail.Filter
		want   string
	}{
		{trail.Filter{}, "[1 2 3 4 5 6 7 8]"},
		{trail.Filter{Session: "s1"}, "[1 2 3 4]"},
		{trail.Filter{Only: "calls"}, "[2 3 4 5 6 7]"},
		{trail.Filter{Only: "acts"}, "[2 3 4 5 6 7 8]"},
		{trail.Filter{Principal: "bob"}, "[5 7]"},
		{trail.Filter{Tool: "push"}, "[2 3 4]"},
		{trail.Filter{Tool: "ush"}, "[]"},
		{trail.Filter{Tool: "up.push"}, "[2 3 4]"},
		{trail.Filter{Tool: "git.push"}, "[2]"},
		{trail.Filter{Decision: "refuse"}, "[4 7]"},
		{trail.Filter{Decision: "refuse", Kind: "approval"}, "[7]"},
		{trail.Filter{Approval: "a7"}, "[5]"},
		{trail.Filter{Event: "outcome", Call: 1}, "[3 6]"},
		{trail.Filter{Net: "n"}, "[2 4 8]"},
		{trail.Filter{Since: at(3), Until: at(5)}, "[4 5]"},
	} {
		var got []uint64
		for r, err := range log.Records(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := c.filter.Select(&r); ok {
				got = append(got, r.Seq)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, want %s", c.filter, got, c.want)
		}
	}
	broken := trail.Record{Event: []byte("{")}
	if _, ok := (&trail.Filter{}).Select(&broken); !ok {
		t.Error("what cannot be read is not shown")
	}
	if _, ok := (&trail.Filter{Call: 1}).Select(&broken); ok {
		t.Error("what cannot be read is selected")
	}
}

func TestStats(t *testing.T) {
	var s trail.Stats
	for r, err := range dayLog(t).Records(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		s.Add(&e)
	}
	if s.Records != 8 || s.Sessions != 1 || !s.From.Equal(at(0)) || !s.To.Equal(at(7)) {
		t.Errorf("%+v", s)
	}
	c := s.Counts()
	if len(c.Tools) != 2 || c.Tools[0].Tool != "up.deploy" || c.Tools[0].Failure != 1 || c.Tools[1].Allowed != 1 || c.Tools[1].Refused != 1 || c.Tools[1].Latency.P99 != 12.5 {
		t.Errorf("%+v", c.Tools)
	}
	if len(c.Rules) != 2 || c.Rules[1].Rule != "a.rules:1:1" || c.Rules[0].Kind != "approval" {
		t.Errorf("%+v", c.Rules)
	}
	if len(c.Approvals) != 1 || c.Approvals[0] != (trail.ApprovalStats{Actor: "eve", Channel: "cli", Allowed: 1, Denied: 1}) {
		t.Errorf("%+v", c.Approvals)
	}
}

// TestStatsAreBounded checks that made-up names do not fill the memory.
func TestStatsAreBounded(t *testing.T) {
	var s trail.Stats
	for i := range 3000 {
		s.Add(&trail.Entry{Decision: audit.Decision{Event: "decision", Tool: fmt.Sprint("t", i), Decision: "refuse", Kind: "unknown"}})
	}
	for i := range 1000 {
		s.Add(&trail.Entry{Decision: audit.Decision{Event: "outcome", Tool: "t0"}, Outcome: "unknown", Millis: float64(i + 1)})
	}
	tools := s.Counts().Tools
	if len(tools) != 1001 || tools[0].Refused != 2000 {
		t.Errorf("%d tools, %+v", len(tools), tools[0].Refused)
	}
	i := slices.IndexFunc(tools, func(t trail.ToolStats) bool { return t.Tool == "t0" })
	if q := tools[i].Latency; q.P50 < 490 || q.P50 > 540 || q.P99 < 980 || q.Max != 1000 {
		t.Errorf("%+v", q)
	}
}

func TestLast(t *testing.T) {
	log := dayLog(t)
	got, end, err := trail.Last(t.Context(), log, 2, &trail.Filter{Event: "decision"})
	if err != nil || len(got) != 2 || got[0].Seq != 5 || got[1].Seq != 7 || end < 8 {
		t.Error(got, end, err)
	}
	if got, _, err = trail.Last(t.Context(), log, 0, &trail.Filter{}); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	put(t, string(log), []byte("hello\n"))
	if _, _, err = trail.Last(t.Context(), log, 2, &trail.Filter{}); err == nil || !strings.Contains(err.Error(), "audit.jsonl:1: it is not an audit record") {
		t.Error(err)
	}
	if err := os.Remove(string(log)); err != nil {
		t.Fatal(err)
	}
	if _, _, err = trail.Last(t.Context(), log, 2, &trail.Filter{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestFollow checks that every record is passed on once, across files that are renamed meanwhile.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Rotation{Size: 800})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	more := func() {
		if err := log.Append([]byte(day[1])); err != nil {
			t.Error(err)
		}
	}
	more()
	over := errors.New("over")
	next := uint64(2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 8 {
		more()
	}
	written := 0
	err = trail.File(path).Follow(ctx, 1, func(r trail.Record) error {
		if r.Seq != next {
			return fmt.Errorf("record %d, want %d", r.Seq, next)
		}
		next++
		if written++; written < 25 {
			more()
			return nil
		}
		return over
	})
	if !errors.Is(err, over) {
		t.Error(err)
	}
	if err := trail.File(path+"x").Follow(ctx, 0, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestEntry checks that an event is decoded like package json does, and that a value of another
// type is an error.
func TestEntry(t *testing.T) {
	for _, event := range append(day,
		`{}`, ` { "time" : "2026-01-02T08:00:00.123456789Z" , "new" : {"a":[1]} , "event":"x\u00e9\n" } `,
		`{"time":"2026-01-02T08:00:00Z","called":"2026-01-02T07:00:00+01:00","event":"decision","names":["a","b"],"own":2,"uncertain":["b"],"weak":["b"],"omittedNames":3,"args":{"a": 1},"values":[{"field":"f","sha256":["00","11"],"values":["a",7]},{"field":"g","amount":1.50},{"field":"h","lacks":"masked"}],"row":"r","reads":["n"],"shadow":true,"client":"c","id":"7","would":{"decision":"ask","kind":"approval","nets":[{"net":"n","verdict":"gated","shadow":true}],"reason":"r"},"arguments":"x"}`,
		`{"event":"policy","process":"p","policy":"f","files":[{"name":"n","sha256":"s"}],"active":["n"],"fields":["f"],"results":["r"],"maps":["m"],"actions":["a.b"],"rows":true,"arguments":"hash"}`,
		`{"event":"conflict","winner":"w","nets":[{"net":"a"}],"yields":[]}`, `{"event":"start","driver":"sqlite","heads":[{"writer":"w","seq":1,"hash":"h"}]}`, `{"event":"task","task":"t"}`,
	) {
		r := trail.Record{Event: []byte(event)}
		got, err := r.Entry()
		var want trail.Entry
		if e := json.Unmarshal([]byte(event), &want); err != nil || e != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v, %v", event, got, want, err)
		}
	}
	for _, event := range []string{``, `[]`, `{`, `{"time":7}`, `{"event":7}`, `{"call":-1}`, `{"ms":"1"}`, `{"names":"a"}`, `{"names":[1]}`, `{"nets":[1]}`, `{"nets":[{"net":1}]}`, `{"values":[{"sha256":1}]}`, `{"would":1}`, `{"would":{"kind":1}}`} {
		r := trail.Record{Event: []byte(event)}
		if _, err := r.Entry(); err == nil {
			t.Errorf("%s is read", event)
		}
	}
}
