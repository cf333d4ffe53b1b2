package gate_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// sixtyRules is a policy as large as those that people write: five statements are about "busy", one
// is about "single", and the rest are about other tools.
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

// BenchmarkDecideKeyed decides calls under sixty rules, ten of them with a key: six apply to the
// call, and one or three of those block it. It then does so in a session, which moves its nets and
// settles the call.
func BenchmarkDecideKeyed(b *testing.B) {
	var nets []gate.Net
	for i := range 10 {
		n := sequenceNet(fmt.Sprint("check", i), "busy")
		if i >= 3 {
			n = limitNet(fmt.Sprint("post", i), 1<<30, "session")
		}
		if i >= 7 {
			n = limitNet("busy", 1<<30-i, "session")
		}
		n.Key = []gate.Field{{Path: "path"}}
		n.Reason = strings.Replace(n.Reason, " ", " {key} ", 1)
		nets = append(nets, n)
	}
	for i := range 50 {
		nets = append(nets, blockNet(fmt.Sprint("rm", i)))
	}
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{Labels: labels()})
	if err != nil {
		b.Fatal(err)
	}
	for name, c := range map[string]gate.Call{
		"six": {Tool: "busy", Args: []byte(`{"path":"notes.txt","content":"nothing"}`)},
		"one": {Tool: "post4", Args: []byte(`{"path":"notes.txt","content":"nothing"}`)},
	} {
		b.Run(name, func(b *testing.B) {
			var q gate.Prepared
			state := p.NewState(nil)
			b.ReportAllocs()
			for b.Loop() {
				q.Reset(p, &c)
				q.Decide(state, nil)
			}
		})
		b.Run("settled-"+name, func(b *testing.B) {
			s := gate.NewSession(p, gate.SessionOptions{})
			b.ReportAllocs()
			for b.Loop() {
				if a, ok := s.Decide(c, nil).(*gate.Allow); ok {
					a.Ticket.Settle(gate.Failure)
				}
			}
		})
	}
}
