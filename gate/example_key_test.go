package gate_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
)

// keyedPolicy lets send write only to recipients that contacts has shown.
func keyedPolicy() *gate.Policy {
	n := sequenceNet("contacts", "send")
	n.Key = []gate.Field{{Path: "to"}}
	n.Transitions[1].Key = []gate.Field{{Path: "$.people[*].email", Result: true}}
	n.Reason = "send to {key} requires that contacts has shown {key} first."
	p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	return p
}

func ExampleTicket_End() {
	s := gate.NewSession(keyedPolicy(), gate.SessionOptions{})
	looked := s.Decide(gate.Call{Tool: "contacts"}, nil).(*gate.Allow)
	looked.Ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`{"people": [{"email": "ann@example.org"}]}`)})
	for _, args := range []string{`{"to": "ann@example.org"}`, `{"to": "eve@example.com"}`} {
		switch d := s.Decide(gate.Call{Tool: "send", Args: []byte(args)}, nil).(type) {
		case *gate.Allow:
			fmt.Println("allowed")
		case *gate.Refusal:
			fmt.Println(d.Text)
		}
	}
	fmt.Print(s.Status())
	// Output:
	// allowed
	// send to eve@example.com requires that contacts has shown eve@example.com first.
	// require-contacts-before-send (active): ready:1 for each to
}

func ExamplePolicy_PrepareEnd() {
	p := keyedPolicy()
	s := p.NewState(nil)
	d, delta := p.Decide(s, gate.Call{Tool: "contacts"}, nil)
	s.Apply(delta)
	end := gate.End{Outcome: gate.Success}
	if p.ReadsResults() {
		end.Result = []byte(`{"people": [{"email": "ann@example.org"}]}`)
	}
	prepared := p.PrepareEnd(end) // without holding a lock
	s.Apply(prepared.Settle(s, d.(*gate.Allow).Ticket.Number))
	for value, data := range s.Nets[0].Values.All() {
		fmt.Println(value, data.Marking)
	}
	// Output: "ann@example.org" [0 0 1]
}
