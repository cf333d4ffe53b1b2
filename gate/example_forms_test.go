package gate_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
)

func ExampleTransition_spoils() {
	s := newSession(gate.Net{
		Name:    "tested",
		Places:  []string{"dirty", "tested"},
		Initial: map[string]int{"dirty": 1},
		Transitions: []gate.Transition{
			{Name: "test", Inputs: []string{"dirty"}, Outputs: []string{"tested"}, Tools: gate.Tools("test"), Deferred: true, Observe: true},
			{Name: "push", Inputs: []string{"tested"}, Outputs: []string{"dirty"}, Tools: gate.Tools("push")},
			{Name: "edit", Inputs: []string{"tested"}, Outputs: []string{"dirty"}, Tools: gate.Tools("edit"), Observe: true, Spoils: true},
		},
		Reason: "push requires a test of the files as they are.",
	})
	edit := s.Decide(gate.Call{ID: "1", Tool: "edit"}, nil).(*gate.Allow)
	try(s, "test", gate.Success)
	try(s, "push", gate.Success)
	edit.Ticket.Settle(gate.Success)
	try(s, "test", gate.Success)
	try(s, "push", gate.Success)
	// Output:
	// test: allowed
	// push: push requires a test of the files as they are. Call 1 of edit has not ended; a concurrent call to test does not count.
	// test: allowed
	// push: allowed
}

func ExampleNet_sum() {
	s := newSession(gate.Net{
		Name:        "budget",
		Places:      []string{"ready"},
		Initial:     map[string]int{"ready": 1},
		Transitions: []gate.Transition{{Name: "pay", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("transfer")}},
		Sum:         &gate.Sum{Field: gate.Field{Path: "amount"}, Most: 1000, Every: 24 * time.Hour},
	})
	for _, amount := range []string{"879.5", "300", `"all"`} {
		switch d := s.Decide(gate.Call{Tool: "transfer", Args: []byte(`{"amount":` + amount + `}`), Time: time.Unix(0, 0)}, nil).(type) {
		case *gate.Refusal:
			fmt.Println(d.Text)
		case *gate.Allow:
			d.Ticket.Settle(gate.Success)
			fmt.Print(s.Status())
		}
	}
	// Output:
	// budget (active): ready:1; spent: 879.50 of 1000 per day
	// transfer has 120.50 left of 1000 per day, but this call needs 300; try again in 4h18m29s.
	// transfer needs one number of 0 or more as its amount, because the sum is limited.
}

func ExampleNet_row() {
	s := newSession(gate.Net{
		Name:        "loops",
		Places:      []string{"tries"},
		Initial:     map[string]int{"tries": 2},
		Transitions: []gate.Transition{{Name: "any", Inputs: []string{"tries"}, Tools: []gate.Tool{{Name: "*", Kind: gate.Glob}}}},
		Reason:      "Repeating this call changes nothing.",
		Row:         true,
	})
	for range 3 {
		try(s, "poll", gate.Success)
	}
	try(s, "think", gate.Success)
	try(s, "poll", gate.Success)
	// Output:
	// poll: allowed
	// poll: allowed
	// poll: Repeating this call changes nothing.
	// think: allowed
	// poll: allowed
}

func ExampleNet_phases() {
	s := newSession(gate.Net{
		Name:    "work",
		Places:  []string{"planning", "acting"},
		Initial: map[string]int{"planning": 1},
		Transitions: []gate.Transition{
			{Name: "begin", Inputs: []string{"planning"}, Outputs: []string{"acting"}, Tools: gate.Tools("begin")},
		},
		Phases: []gate.Phase{{Place: "planning", Tools: []gate.Tool{{Name: "read_*", Kind: gate.Glob}, {Name: "begin"}}}},
	})
	for _, tool := range []string{"read_file", "edit", "begin", "edit"} {
		try(s, tool, gate.Success)
	}
	// Output:
	// read_file: allowed
	// edit: edit cannot be called while net 'work' is in planning: only read_*, begin can.
	// begin: allowed
	// edit: allowed
}

func ExampleConfirmN() {
	fourEyes := toolApproval
	fourEyes.Transitions = slices.Clone(fourEyes.Transitions)
	for i := range fourEyes.Transitions {
		if t := &fourEyes.Transitions[i]; t.Manual {
			t.Approvals = 2
		}
	}
	s := newSession(fourEyes)
	agreed := map[string][]string{"edit": {"ann", "bob"}, "bash": {"ann", "ann"}}
	ask := func(_ context.Context, a *gate.Ask) (int, error) {
		people := slices.Compact(slices.Sorted(slices.Values(agreed[a.Call.Tool])))
		fmt.Printf("%s: %d of %d\n", a.Call.Tool, len(people), a.Approvals())
		return len(people), nil
	}
	for _, tool := range []string{"edit", "bash"} {
		switch d := gate.ConfirmN(context.Background(), s, gate.Call{Tool: tool}, ask).(type) {
		case *gate.Allow:
			fmt.Println(tool, "allowed")
			d.Ticket.Settle(gate.Success)
		case *gate.Refusal:
			fmt.Println(d.Text)
		}
	}
	// Output:
	// edit: 2 of 2
	// edit allowed
	// bash: 1 of 2
	// bash requires the approval of 2 different people.
}
