package admission_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store"
)

// BenchmarkAdmission is a call that passes and is settled, off the record.
func BenchmarkAdmission(b *testing.B) {
	p := policyOf(b, nets()...)
	a := admission.New(admission.Options{Ledger: store.NewMemory(p, nil, nil, audit.NewRecorder(nil, nil)), Generation: admission.NewGeneration(p, nil)})
	key := admission.Key{Session: "s", Principal: "ann"}
	if err := a.Open(b.Context(), admission.SessionInfo{Key: key, Since: now}); err != nil {
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

// BenchmarkSession is the same by a session of the gate alone.
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
