package gate_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// sixtyRules is a policy as large as people write them: five statements are
// about "busy", one is about "single", the others are about other tools.
func sixtyRules(b *testing.B) *gate.Policy {
	nets := []gate.Net{
		limitNet("single", 1<<30, "session"),
		limitNet("busy", 1<<30, "session"), limitNet("busy", 1<<30, "other"),
		sequenceNet("busy", "rare"), sequenceNet("busy", "seldom"), limitNet("never", 5, "busy"),
	}
	for i := range 18 {
		tool := fmt.Sprintf("tool%d", i)
		nets = append(nets, sequenceNet("check"+tool, tool), approvalNet("deploy"+tool), blockNet("rm"+tool))
	}
	maps := []gate.Map{
		{Tool: "bash", Field: "command", As: "delete", Source: "rm", Match: regexp.MustCompile(`\brm\b`).MatchString},
		{Tool: "bash", Field: "command", As: "single", Source: "git", Match: regexp.MustCompile(`\bgit\b`).MatchString},
	}
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{Labels: labels(maps...)})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkDecide(b *testing.B) {
	p := sixtyRules(b)
	for _, c := range []struct {
		name string
		call gate.Call
	}{
		{"none", gate.Call{ID: "1", Tool: "unheard-of"}},
		{"one", gate.Call{ID: "1", Tool: "single"}},
		{"five", gate.Call{ID: "1", Tool: "busy"}},
		{"mapped", gate.Call{ID: "1", Tool: "bash", Args: []byte(`{"command":"git push origin","timeout":60}`)}},
		{"blocked", gate.Call{ID: "1", Tool: "rmtool3"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := gate.NewSession(p, gate.SessionOptions{})
			b.ReportAllocs()
			for b.Loop() {
				if a, ok := s.Decide(c.call, nil).(*gate.Allow); ok {
					a.Ticket.Settle(gate.Failure)
				}
			}
		})
	}
}
