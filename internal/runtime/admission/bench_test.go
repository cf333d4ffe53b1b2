package admission_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

// BenchmarkAdmission admits and settles a call without records.
func BenchmarkAdmission(b *testing.B) {
	p := policyOf(b, nets()...)
	a := admission.New(admission.Options{Ledger: store.NewMemory(p, nil, nil, audit.NewRecorder(nil, nil)), Generation: admission.NewGeneration(p, nil)})
	key := admission.Key{Session: "s", Principal: "ann"}
	if err := a.Sessions.Open(b.Context(), admission.SessionInfo{Key: key, Since: now}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := &admission.Call{Key: key, Gate: gate.Call{ID: "1", Tool: "backup", Time: now}}
		if d, ok := a.Decide(b.Context(), c).(*admission.Admitted); ok {
			a.Settle(b.Context(), &d.Ticket, gate.End{Outcome: gate.Failure}, "")
		}
	}
}

// BenchmarkRecorded admits and settles a call with records: alone, and in bursts of 64 that wait
// for their records together.
func BenchmarkRecorded(b *testing.B) {
	for name, burst := range map[string]int{"alone": 1, "64": 64} {
		b.Run(name, func(b *testing.B) {
			p := policyOf(b, nets()...)
			log, err := audit.Open(filepath.Join(b.TempDir(), "audit.jsonl"), audit.Rotation{})
			if err != nil {
				b.Fatal(err)
			}
			defer log.Close()
			a := admission.New(admission.Options{Ledger: store.NewMemory(p, nil, nil, audit.NewRecorder(log, time.Now)), Generation: admission.NewGeneration(p, nil)})
			key := admission.Key{Session: "s", Principal: "ann"}
			if err := a.Sessions.Open(b.Context(), admission.SessionInfo{Key: key, Since: now}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for range b.N / burst {
				recorded(b, a, key, burst)
			}
		})
	}
}

// recorded makes and settles concurrent calls.
func recorded(b *testing.B, a *admission.Admission, key admission.Key, burst int) {
	var pending []*admission.Pending
	for range burst {
		pending = append(pending, a.Stage(b.Context(), &admission.Call{Key: key, Gate: gate.Call{Tool: "read", Time: now}, Tool: "read", Canonical: "up.read", Upstream: "up"}))
	}
	var settling []*admission.Settling
	for _, p := range pending {
		d, ok := p.Wait().(*admission.Admitted)
		if !ok {
			b.Fatal("a call was refused")
		}
		settling = append(settling, a.StageEnd(b.Context(), &d.Ticket, gate.End{Outcome: gate.Success}, ""))
	}
	for _, s := range settling {
		s.Wait()
	}
}

// BenchmarkSession does the same with only a session of the gate.
func BenchmarkSession(b *testing.B) {
	p := policyOf(b, nets()...)
	s := gate.NewSession(p, gate.SessionOptions{Global: gate.NewShared(p, gate.ScopeGlobal, gate.SharedOptions{})})
	b.ReportAllocs()
	for b.Loop() {
		if d, ok := s.Decide(gate.Call{ID: "1", Tool: "backup", Time: now}, nil).(*gate.Allow); ok {
			d.Ticket.SettleAt(gate.Failure, now)
		}
	}
}
