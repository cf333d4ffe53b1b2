package console

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

// A recorded is a log of the calls made in the session s1.
type recorded struct {
	*admission.Admission

	t    *testing.T
	path string
	log  *audit.Log
	key  admission.Key
}

func putOnRecord(t *testing.T, p *gate.Policy) *recorded {
	t.Helper()
	r := &recorded{t: t, path: filepath.Join(t.TempDir(), "audit.jsonl"), key: admission.Key{Session: "s1", Principal: "ann"}}
	var err error
	if r.log, err = audit.Open(r.path, audit.Rotation{}); err != nil {
		t.Fatal(err)
	}
	r.Admission = admission.New(admission.Options{
		Ledger: store.NewMemory(p, nil, nil, audit.NewRecorder(r.log, time.Now)), Generation: admission.NewGeneration(p, nil), Process: "p",
	})
	r.Begin(t.Context(), audit.Process{Driver: "memory"})
	if err := r.Sessions.Open(t.Context(), admission.SessionInfo{Key: r.key, Since: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return r
}

// call makes a call. If the call is allowed, it succeeds.
func (r *recorded) call(tool, args string) {
	c := &admission.Call{Key: r.key, Tool: tool, Canonical: tool, Gate: gate.Call{Tool: tool, Args: []byte(args), Time: time.Now()}}
	if a, ok := r.Decide(r.t.Context(), c).(*admission.Admitted); ok {
		r.Settle(r.t.Context(), &a.Ticket, gate.End{Outcome: gate.Success}, "")
	}
}

// open opens a console after the calls were made. Its proxy has the given sessions.
func (r *recorded) open(p *gate.Policy, sessions map[string]*gate.Session) *browser {
	r.t.Helper()
	if err := r.log.Close(); err != nil {
		r.t.Fatal(err)
	}
	b := &browser{t: r.t, desk: &desk{changed: make(chan struct{})}}
	b.desk.policy, b.desk.gates = p, sessions
	b.server = httptest.NewUnstartedServer(nil)
	c := New(Options{Proxy: b.desk, Hosts: []string{b.server.Listener.Addr().String()}, Feed: audit.NewFeed(nil), Past: trail.File(r.path)})
	b.server.Config.Handler = c
	b.server.Start()
	r.t.Cleanup(func() { c.Close(); b.server.Close() })
	b.enter(c.Code(ann))
	<-c.history.ready
	return b
}

func policyOf(t *testing.T, nets ...gate.Net) *gate.Policy {
	t.Helper()
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPastIsRebuilt checks that a console opened later shows the earlier states of the nets, even
// for an ended session, or explains why a state is unknown.
func TestPastIsRebuilt(t *testing.T) {
	shared := backupNet("shared")
	shared.Scope = gate.ScopePrincipal
	p := policyOf(t, backupNet("backup-first"), shared)
	r := putOnRecord(t, p)
	for _, tool := range []string{"delete", "backup", "delete"} {
		r.call(tool, "{}")
	}
	b := r.open(p, nil)
	b.wants("/nets", "s1, which has ended")
	b.wants("/nets?net=backup-first&session=s1", "This session has ended", "after step 5", "rebuilt from the records", "ready has 1 token", "1. delete refused", "4. delete allowed (call 2)", "This history is complete")
	b.wants("/nets?net=backup-first&session=s1&at=3", "gate has 1 token", "after step 3", "cannot decide other calls")
	b.wants("/nets?net=shared&session=s1&at=3&why=delete", "gate has 1 token", "cannot decide other calls")
	b.wants("/nets?session=s1&at=3", "gate:1")
	if code, _ := b.get("/nets?session=s2"); code != 404 {
		t.Error(code)
	}
}

// TestUnknownPastIsNotShown checks that states that the records do not determine are not shown, and
// that the page explains why.
func TestUnknownPastIsNotShown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(text string) string
		net    string
		want   []string
	}{
		"begin": {func(s string) string { _, s, _ = strings.Cut(s, `"session opened"`); return after(s) }, "backup-first", []string{
			"No history: the session may have begun before the oldest available record: older records are not read"}},
		"policy": {func(s string) string {
			before, after, _ := strings.Cut(s, `"event":"decision"`)
			return before + `"event":"decision"` + strings.Replace(after, policyOf(t, backupNet("backup-first")).Fingerprint(), strings.Repeat("a", 64), 1)
		}, "backup-first", []string{"No history", "a call was decided under another policy at"}},
		"gap": {func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return strings.Join(append(lines[:4:4], lines[5:]...), "")
		}, "backup-first", []string{"No history", "records are missing before"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := policyOf(t, backupNet("backup-first"))
			r := putOnRecord(t, p)
			for range 3 {
				r.call("backup", "{}")
			}
			if _, err := r.log.State(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(r.path)
			if err != nil {
				t.Fatal(err)
			}
			r.log.Close()
			if err := os.WriteFile(r.path, []byte(c.change(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			b := r.open(p, map[string]*gate.Session{"s1": gate.NewSession(p, gate.SessionOptions{})})
			b.wants("/nets?session=s1&net="+c.net, c.want...)
		})
	}
}

// after returns the text after the line.
func after(s string) string {
	_, s, _ = strings.Cut(s, "\n")
	return s
}

// TestPastValues checks that earlier values are shown by their current labels if the session still
// has them, and otherwise by their hashes.
func TestPastValues(t *testing.T) {
	keyed := backupNet("backup-first")
	keyed.Key = []gate.Field{{Path: "path"}}
	p := policyOf(t, keyed)
	r := putOnRecord(t, p)
	now := gate.NewSession(p, gate.SessionOptions{})
	for i, path := range []string{"a", "b"} {
		r.call("backup", fmt.Sprintf(`{"path":%q}`, path))
		if i == 0 {
			d, ok := now.Decide(gate.Call{Tool: "backup", Args: []byte(`{"path":"a"}`)}, nil).(*gate.Allow)
			if !ok {
				t.Fatal("it is refused")
			}
			now.End(d.Ticket.Number, gate.End{Outcome: gate.Success})
		}
	}
	b := r.open(p, map[string]*gate.Session{"s1": now})
	page := b.wants("/nets?net=backup-first&session=s1&at=4", "path &#34;a&#34;", "path #"+audit.HashOf(`"b"`)[:12], "Records contain hashes of the values", "delete: gate is empty")
	_, rest, _ := strings.Cut(page, `aria-label="Value of path"`)
	for _, link := range strings.Split(rest, `<a href="`)[2:4] {
		link, _, _ = strings.Cut(link, `"`)
		b.wants(strings.ReplaceAll(link, "&amp;", "&"), "delete: enabled", `aria-current="true">path`)
	}
	b.wants("/nets?net=backup-first&session=s1&at=4&value=none", "The selected value is like every other value here")
}

// BenchmarkPast rebuilds the states of 60 nets after each of the last 25,000 records.
func BenchmarkPast(b *testing.B) {
	var nets []gate.Net
	for n := range 60 {
		nets = append(nets, backupNet(fmt.Sprint("net-", n)))
	}
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Rotation{})
	if err != nil {
		b.Fatal(err)
	}
	a := admission.New(admission.Options{Ledger: store.NewMemory(p, nil, nil, audit.NewRecorder(log, time.Now)), Generation: admission.NewGeneration(p, nil), Process: "p"})
	a.Begin(b.Context(), audit.Process{Driver: "memory"})
	for n := range pastRecords / 2 {
		k := admission.Key{Session: fmt.Sprint("s", n/500), Principal: "ann"}
		if n%500 == 0 {
			if err := a.Sessions.Open(b.Context(), admission.SessionInfo{Key: k, Since: time.Now()}); err != nil {
				b.Fatal(err)
			}
		}
		tool := []string{"backup", "delete", "read"}[n%3]
		if d, ok := a.Decide(b.Context(), &admission.Call{Key: k, Tool: tool, Canonical: tool, Gate: gate.Call{Tool: tool, Time: time.Now()}}).(*admission.Admitted); ok {
			a.Settle(b.Context(), &d.Ticket, gate.End{Outcome: gate.Success}, "")
		}
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		records, err := trail.Recent(b.Context(), trail.File(path), pastRecords, pastBytes)
		if err != nil {
			b.Fatal(err)
		}
		h := newHistory()
		if err := h.rebuild(b.Context(), records, p.NewState(nil)); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(h.count), "steps")
	}
}
