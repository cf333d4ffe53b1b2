package gate_test

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// threePushes is a limit.
var threePushes = gate.Net{
	Name: "three-pushes", Cause: gate.CauseLimit,
	Places: []string{"budget"}, Initial: map[string]int{"budget": 3},
	Transitions: []gate.Transition{{Name: "push", Inputs: []string{"budget"}, Tools: gate.Tools("push")}},
	Reason:      "push is possible three times.",
}

// Each conversation has its own session; all sessions share one policy.
func ExampleNewSession() {
	policy := policyWith(backupBeforeDelete)
	first := gate.NewSession(policy, gate.SessionOptions{})
	second := gate.NewSession(policy, gate.SessionOptions{})
	try(first, "backup", gate.Success)
	try(first, "delete", gate.Success)
	try(second, "delete", gate.Success)
	// Output:
	// backup: allowed
	// delete: allowed
	// delete: delete requires a successful call to backup first.
}

// A call that is settled elsewhere is identified by its number. Only the first success or failure
// counts.
func ExampleSession_Settle() {
	s := newSession(backupBeforeDelete)
	allow := s.Decide(gate.Call{ID: "1", Tool: "backup"}, nil).(*gate.Allow)
	for _, open := range s.Open() {
		fmt.Println("open:", open.ID, open.Tool)
	}
	fmt.Println(s.Settle(allow.Ticket.Number, gate.Failure), s.Settle(allow.Ticket.Number, gate.Success))
	fmt.Println(len(s.Open()), "open")
	try(s, "delete", gate.Success)
	// Output:
	// open: 1 backup
	// true false
	// 0 open
	// delete: delete requires a successful call to backup first.
}

// A clock that waits for an outcome continues from the time when the call ended.
func ExampleSession_SettleAt() {
	s := newSession(gate.Net{
		Name: "pause", Places: []string{"ready", "tired"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "run", Inputs: []string{"ready"}, Outputs: []string{"tired"}, Tools: gate.Tools("run"), Deferred: true},
			{Name: "rest", Inputs: []string{"tired"}, Outputs: []string{"ready"}, Every: time.Minute},
		},
	})
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	allow := s.Decide(gate.Call{Tool: "run", Time: start}, nil).(*gate.Allow)
	s.SettleAt(allow.Ticket.Number, gate.Success, start.Add(10*time.Second))
	fmt.Println(s.Decide(gate.Call{Tool: "run", Time: start.Add(time.Minute)}, nil).(*gate.Refusal).Retry)
	// Output: 10s
}

// A reset returns all nets to their initial state. Calls in flight settle without effect.
func ExampleSession_Reset() {
	s := newSession(backupBeforeDelete)
	allow := s.Decide(gate.Call{Tool: "backup"}, nil).(*gate.Allow)
	s.Reset()
	allow.Ticket.Settle(gate.Success)
	fmt.Print(s.Status())
	try(s, "delete", gate.Success)
	// Output:
	// backup-before-delete (active): ready:1
	// delete: delete requires a successful call to backup first.
}

// Each net's verdict on a call that is not made. Classify has no effect.
func ExampleSession_Classify() {
	s := newSession(backupBeforeDelete, toolApproval, threePushes)
	for _, tool := range []string{"delete", "bash", "ls"} {
		for _, v := range s.Classify(gate.Call{Tool: tool}) {
			switch v.Kind {
			case gate.Blocked:
				fmt.Printf("%s: %s blocks\n", tool, v.Net)
			case gate.Gated:
				fmt.Printf("%s: %s has %s for it, by a person: %t\n", tool, v.Net, v.Transition, v.Manual)
			case gate.Free:
				fmt.Printf("%s: always free for %s\n", tool, v.Net)
			}
		}
	}
	// Output:
	// delete: backup-before-delete blocks
	// bash: tool-approval has execShell for it, by a person: true
	// ls: always free for tool-approval
}

// The number of calls that a limit still allows. A net that is not a limit has none.
func ExampleSession_Left() {
	s := newSession(threePushes, backupBeforeDelete)
	try(s, "push", gate.Success)
	for _, tool := range []string{"push", "backup"} {
		for _, v := range s.Classify(gate.Call{Tool: tool}) {
			if v.Kind == gate.Gated {
				calls, limited := s.Left(v)
				fmt.Println(tool, calls, limited)
			}
		}
	}
	// Output:
	// push: allowed
	// push 2 true
	// backup 0 false
}

// The calls that are possible now, and those that require approval.
func ExampleSession_Enabled() {
	s := newSession(backupBeforeDelete, toolApproval)
	for _, e := range s.Enabled() {
		fmt.Println(e.Net, e.Transition, e.Manual)
	}
	// Output:
	// backup-before-delete backup false
	// tool-approval execShell true
	// tool-approval execWrite true
}

// The state of each net as data. Status formats the same information for people.
func ExampleSession_Nets() {
	s := newSession(backupBeforeDelete)
	s.Decide(gate.Call{ID: "1", Tool: "backup"}, nil)
	for _, n := range s.Nets() {
		fmt.Println(n.Name, n.Active, n.Marking)
		for _, f := range n.InFlight {
			fmt.Println("in flight:", f.Transition, "for", f.Name)
		}
	}
	fmt.Print(s.Status())
	// Output:
	// backup-before-delete true ready:1 (1 in flight)
	// in flight: backup for backup
	// backup-before-delete (active): ready:1 (1 in flight)
}

// A net that is switched off keeps its state and does not take part in decisions.
func ExampleSession_Deactivate() {
	s := newSession(threePushes)
	try(s, "push", gate.Success)
	fmt.Println(s.Deactivate("three-pushes"))
	try(s, "push", gate.Success)
	fmt.Print(s.Status())
	fmt.Println(s.Deactivate("three-pushes"))
	// Output:
	// push: allowed
	// <nil>
	// push: allowed
	// three-pushes (inactive): budget:2
	// net "three-pushes" is not active; active: none
}

// An advisory net yields if it would leave none of the offered tools that the other nets allow.
func ExampleSession_Offer() {
	quiet := gate.Net{
		Name: "quiet", Advisory: true, Places: []string{"never"},
		Transitions: []gate.Transition{{Name: "any", Inputs: []string{"never"}, Tools: gate.Tools("push", "read")}},
		Reason:      "Better do nothing.",
	}
	s := newSession(quiet)
	try(s, "push", gate.Success)
	s.Offer([]gate.Call{{Tool: "push"}, {Tool: "read"}})
	try(s, "push", gate.Success)
	s.Offer([]gate.Call{{Tool: "push"}, {Tool: "think"}})
	try(s, "push", gate.Success)
	// Output:
	// push: Better do nothing.
	// push: allowed
	// push: Better do nothing.
}

// While a call waits for a person, its ID is taken. A question that will not be answered is
// withdrawn.
func ExampleSession_Withdraw() {
	s := newSession(toolApproval)
	call := gate.Call{ID: "1", Tool: "bash"}
	ask := s.Decide(call, nil).(*gate.Ask)
	_, twice := s.Decide(call, nil).(*gate.Refusal)
	s.Withdraw(ask)
	_, again := s.Decide(call, nil).(*gate.Ask)
	fmt.Println("refused while it waits:", twice)
	fmt.Println("asked about again:", again)
	// Output:
	// refused while it waits: true
	// asked about again: true
}
