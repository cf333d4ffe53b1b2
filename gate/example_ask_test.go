package gate_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
)

// A grant is valid for a single admission of the call in question; the next call is a new question.
func ExampleAsk_Grant() {
	s := newSession(toolApproval)
	call := gate.Call{ID: "1", Tool: "bash", Args: []byte(`{"command":"make"}`)}
	ask := s.Decide(call, nil).(*gate.Ask)
	for _, step := range ask.Steps {
		fmt.Println(step.Net, step.Transition, step.Reason)
	}
	grant := ask.Grant() // a person has approved
	fmt.Printf("%T\n", s.Decide(call, grant))
	fmt.Printf("%T\n", s.Decide(gate.Call{ID: "2", Tool: "bash"}, grant))
	// Output:
	// tool-approval execShell bash requires human approval.
	// *gate.Allow
	// *gate.Ask
}

// Without an approval, the question supplies the refusal.
func ExampleAsk_Refusal() {
	s := newSession(toolApproval)
	ask := s.Decide(gate.Call{ID: "1", Tool: "edit"}, nil).(*gate.Ask)
	s.Withdraw(ask)
	r := ask.Refusal()
	fmt.Println(r.Kind, "by", r.Blocks[0].Net)
	fmt.Println(r.Text)
	// Output:
	// approval by tool-approval
	// edit requires human approval.
}

// Close guarantees that a ticket is settled on every path, at worst as unknown.
func ExampleTicket_Close() {
	s := newSession(backupBeforeDelete)
	run := func(fails bool) {
		allow := s.Decide(gate.Call{Tool: "backup"}, nil).(*gate.Allow)
		defer allow.Ticket.Close()
		if fails {
			return // the outcome is unknown, so there is still no backup
		}
		allow.Ticket.Settle(gate.Success)
	}
	run(true)
	try(s, "delete", gate.Success)
	s.Reset()
	run(false)
	try(s, "delete", gate.Success)
	// Output:
	// delete: delete requires a successful call to backup first.
	// delete: allowed
}
