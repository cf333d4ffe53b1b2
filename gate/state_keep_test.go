package gate_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/petrigate/petrigate/gate"
)

// TestOpenCallsKeepNoNets checks that a session's state keeps only the current state of each net
// alive, and no older state for each open call.
func TestOpenCallsKeepNoNets(t *testing.T) {
	p, err := gate.NewPolicy([]gate.Net{sequenceNet("test", "push")}, gate.PolicyOptions{Labels: labels()})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState(nil)
	admit := func() weak.Pointer[gate.NetData] {
		_, d := p.Decide(s, gate.Call{Tool: "test"}, nil)
		s.Apply(d)
		return weak.Make(d.Nets[0].Data)
	}
	first := admit()
	admit()
	runtime.GC()
	if first.Value() != nil {
		t.Error("the first call keeps the nets as they were after it")
	}
	if len(s.Calls) != 2 {
		t.Errorf("%d calls are open, want 2", len(s.Calls))
	}
}
