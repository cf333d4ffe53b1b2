package gate_test

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// policyWith is a policy of these nets.
func policyWith(nets ...gate.Net) *gate.Policy {
	policy, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	return policy
}

// A store of one's own keeps a state, and applies what a decision changes once
// that is durable. Names are found before the state is locked.
func ExamplePolicy_Prepare() {
	policy := policyWith(backupBeforeDelete)
	state := policy.NewState(nil)
	for _, tool := range []string{"delete", "backup", "delete"} {
		prepared := policy.Prepare(gate.Call{Tool: tool})
		decision, delta := prepared.Decide(state, nil) // under the lock of the store
		state.Apply(delta)
		if allow, ok := decision.(*gate.Allow); ok {
			state.Apply(policy.Settle(state, allow.Ticket.Number, gate.Success))
		}
		fmt.Printf("%s: %T\n", tool, decision)
	}
	// Output:
	// delete: *gate.Refusal
	// backup: *gate.Allow
	// delete: *gate.Allow
}

// A policy that is edited goes on with the state of the nets that are as they were.
func ExamplePolicy_Adopt() {
	state := policyWith(backupBeforeDelete, toolApproval).NewState(nil)
	edited, kept := policyWith(backupBeforeDelete).Adopt(state, nil)
	for _, k := range kept {
		fmt.Println(k.Net, k.Fate == gate.Continued)
	}
	fmt.Println(edited.Policy() != state.Policy())
	// Output:
	// backup-before-delete true
	// tool-approval false
	// true
}

// What a session is asked can be asked of a policy and a state as well.
func ExamplePolicy_Classify() {
	policy := policyWith(backupBeforeDelete)
	state := policy.NewState(nil)
	for _, v := range policy.Classify(state, gate.Call{Tool: "backup"}) {
		fmt.Println(v.Net, v.Kind == gate.Gated)
	}
	for _, n := range policy.NetsOf(state) {
		fmt.Println(n.Name, n.Marking)
	}
	advertised := policy.Advertise(state, []gate.Call{{Tool: "backup"}, {Tool: "delete"}}, time.Now())
	fmt.Println(advertised.Tools)
	fmt.Println(len(policy.ShadowOf(state).Nets), len(state.Open()))
	// Output:
	// backup-before-delete true
	// backup-before-delete ready:1
	// [backup]
	// 0 0
}

// An operator switches a net off, and puts all nets back to their start.
func ExamplePolicy_Toggle() {
	policy := policyWith(backupBeforeDelete)
	state := policy.NewState(nil)
	off, err := policy.Toggle(state, "backup-before-delete", false)
	if err != nil {
		panic(err)
	}
	state.Apply(off)
	state.Apply(policy.Reset(state))
	state.Apply(policy.Tick(state, time.Now()))
	_, err = policy.Toggle(state, "backup-before-delete", false)
	fmt.Println(err)
	// Output:
	// net "backup-before-delete" is not active; active: none
}

// A question that nobody will answer does not keep the id of its call.
func ExampleAsk_Withdraw() {
	policy := policyWith(toolApproval)
	state := policy.NewState(nil)
	decision, delta := policy.Decide(state, gate.Call{ID: "1", Tool: "bash"}, nil)
	state.Apply(delta)
	state.Apply(decision.(*gate.Ask).Withdraw())
	fmt.Println(len(state.Asks))
	// Output:
	// 0
}

// A verdict of a limit says how many calls are left.
func ExamplePolicy_Left() {
	policy := policyWith(gate.Net{
		Name: "two", Cause: gate.CauseLimit, Places: []string{"budget", "spent"}, Initial: map[string]int{"budget": 2},
		Transitions: []gate.Transition{{Name: "push", Inputs: []string{"budget"}, Outputs: []string{"spent"}, Tools: gate.Tools("push")}},
	})
	state := policy.NewState(nil)
	fmt.Println(policy.Left(state, policy.Classify(state, gate.Call{Tool: "push"})[0]))
	// Output:
	// 2 true
}

// Neither does it wait on a state of one's own.
func ExamplePolicy_Decide() {
	policy := policyWith(toolApproval)
	state := policy.NewState(nil)
	ask, delta := policy.Decide(state, gate.Call{Tool: "bash"}, nil)
	state.Apply(delta)
	allow, delta := policy.Decide(state, gate.Call{Tool: "bash"}, ask.(*gate.Ask).Grant())
	state.Apply(delta)
	fmt.Printf("%T %T\n", ask, allow)
	// Output:
	// *gate.Ask *gate.Allow
}
