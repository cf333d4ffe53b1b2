package front_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/proxy"
)

// readings counts the reads from a database.
type readings struct {
	proxy.Database

	all, records atomic.Int64
}

func (r *readings) List(ctx context.Context, s backend.Scope, text string) iter.Seq2[backend.Part, error] {
	r.all.Add(1)
	return r.Database.List(ctx, s, text)
}

func (r *readings) Heads(ctx context.Context) ([]backend.Record, error) {
	r.all.Add(1)
	return r.Database.Heads(ctx)
}

func (r *readings) Stops(ctx context.Context) ([]backend.Stop, error) {
	r.all.Add(1)
	return r.Database.Stops(ctx)
}

func (r *readings) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	r.records.Add(1)
	return r.Database.Records(ctx, q)
}

// TestCallOfEndedProcessIsUnknown: a call of a process that has ended is listed as unknown wherever
// calls are listed, even in a session that this process has too. No record is read for that, and
// metrics and readiness read nothing at all.
func TestCallOfEndedProcessIsUnknown(t *testing.T) {
	open, reads := proxytest.SharedDatabase(t), &readings{}
	var policy *gate.Policy
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		b, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		reads.Database, policy = b, o.Policy
		o.Database, o.Session = reads, proxy.SessionWay{By: "name", Name: "nightly"}
	}})
	c := s.Connect(proxytest.Legs()[0], "")
	if r := c.Do("safe", `{}`); r.IsError() {
		t.Fatal(r.Text())
	}
	b, err := open()
	if err != nil {
		t.Fatal(err)
	}
	killed := store.NewDurable(t.Context(), store.DurableOptions{Backend: b, Policy: policy})
	own := s.Proxy.Sessions()[0]
	admit := func(k admission.Key) {
		t.Helper()
		if err := killed.Open(t.Context(), admission.SessionInfo{Key: k, Since: time.Now(), Lasting: true}); err != nil {
			t.Fatal(err)
		}
		err := admission.Update(t.Context(), killed, k, func(s *gate.State) (admission.Change, error) {
			_, delta := s.Policy().Decide(s, gate.Call{Tool: "safe", Time: time.Now()}, nil)
			return admission.Change{Delta: delta, Admits: true}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	admit(admission.Key{Session: own.ID, Principal: own.Principal})
	admit(admission.Key{Session: "another", Principal: own.Principal})
	listed := func(unknown bool) {
		t.Helper()
		lists := map[string]func() ([]proxy.SessionInfo, error){
			"ListSessions": s.Proxy.ListSessions, "AllSessions": s.Proxy.AllSessions,
			"Session": func() ([]proxy.SessionInfo, error) {
				one, err := s.Proxy.Session(own.ID)
				other, more := s.Proxy.Session("another")
				if err == nil {
					err = more
				}
				return []proxy.SessionInfo{one, other}, err
			},
		}
		for name, list := range lists {
			all, err := list()
			if err != nil || len(all) != 2 {
				t.Fatalf("%s: %+v, %v", name, all, err)
			}
			for _, o := range all {
				if len(o.Calls) != 1 || o.Calls[0].Unknown != unknown || o.Calls[0].Tool != "safe" {
					t.Errorf("%s, %s: %+v, want unknown: %v", name, o.ID, o.Calls, unknown)
				}
			}
		}
		if calls := s.Proxy.Status().State.Unknown; unknown != (len(calls) == 2) || !unknown && len(calls) != 0 {
			t.Errorf("%+v, want unknown: %v", calls, unknown)
		}
	}
	listed(false)
	if err := killed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	reads.records.Store(0)
	listed(true)
	if n := reads.records.Load(); n != 0 {
		t.Errorf("records were read %d times", n)
	}
	before := reads.all.Load()
	if o, err := s.Proxy.Overview(), s.Proxy.Ready(); err != nil || o.Sessions != 1 || len(o.Upstreams) != 1 || reads.all.Load() != before {
		t.Errorf("%+v, %v, read %d times", o, err, reads.all.Load()-before)
	}
}
