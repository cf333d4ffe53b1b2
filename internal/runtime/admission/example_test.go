package admission_test

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

func Example() {
	policy, err := gate.NewPolicy([]gate.Net{{
		Name: "one-push", Reason: "push has reached its limit.", Places: []string{"budget", "spent"}, Initial: map[string]int{"budget": 1},
		Transitions: []gate.Transition{{Name: "push", Inputs: []string{"budget"}, Outputs: []string{"spent"}, Tools: gate.Tools("push")}},
	}}, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	ctx, key := context.Background(), admission.Key{Session: "one", Principal: "ann"}
	a := admission.New(admission.Options{
		Ledger:     store.NewMemory(policy, nil, nil, audit.NewRecorder(nil, time.Now)),
		Generation: admission.NewGeneration(policy, nil),
	})
	if err := a.Sessions.Open(ctx, admission.SessionInfo{Key: key, Since: time.Now()}); err != nil {
		panic(err)
	}
	for range 2 {
		switch d := a.Decide(ctx, &admission.Call{Key: key, Gate: gate.Call{Tool: "push"}}).(type) {
		case *admission.Admitted: // it is on record: run it
			a.Settle(ctx, &d.Ticket, gate.End{Outcome: gate.Success}, "")
			fmt.Println("pushed")
		case *admission.Asked: // put the question to a person, then Redeem
		case *admission.Refused:
			fmt.Println(d.Text)
		}
	}
	// Output:
	// pushed
	// push has reached its limit.
}
