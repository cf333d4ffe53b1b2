package gate_test

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// policyWith returns a policy with the given nets.
func policyWith(nets ...gate.Net) *gate.Policy {
	policy, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	return policy
}

// A custom store keeps a state and applies a decision's change once it is durable. The call's names
// are computed before the state is locked.
func ExamplePolicy_Prepare() {
	policy := policyWith(backupBeforeDelete)
	state := policy.NewState(nil)
	for _, tool := range []string{"delete", "backup", "delete"} {
		prepared := policy.Prepare(gate.Call{Tool: tool})
		decision, delta := prepared.Decide(state, nil) // under the store's lock
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

// After a policy has been edited, unchanged nets keep their state.
func ExamplePolicy_Adopt() {
	state := policyWith(backupBeforeDelete, toolApproval).NewState(nil)
	edited, kept := policyWith(backupBeforeDelete).Adopt(state, gate.AdoptOptions{})
	for _, k := range kept {
		fmt.Println(k.Net, k.Fate == gate.Continued)
	}
	fmt.Println(edited.Policy() != state.Policy())
	// Output:
	// backup-before-delete true
	// tool-approval false
	// true
}

// All session queries are available for a policy and a state as well.
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

// An operator switches a net off and resets all nets.
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

// A question that will not be answered does not block its call's ID.
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

// A limit's verdict gives access to the number of remaining calls.
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

// The same applies to waiting calls in a custom store.
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

// A proxy that decides many calls reuses one Prepared, which avoids allocations.
func ExamplePrepared_Reset() {
	policy := policyWith(backupBeforeDelete)
	var prepared gate.Prepared
	for _, call := range []gate.Call{{Tool: "delete"}, {Tool: "read"}} {
		prepared.Reset(policy, &call)
		decision, _ := prepared.Decide(policy.NewState(nil), nil)
		fmt.Printf("%s: %T\n", call.Tool, decision)
	}
	// Output:
	// delete: *gate.Refusal
	// read: *gate.Allow
}

// If the state has changed since a decision, the call is decided again; its names are already
// computed.
func ExamplePrepared_Decide() {
	policy := policyWith(backupBeforeDelete)
	saved := policy.NewState(nil)
	backup, delta := policy.Decide(saved, gate.Call{Tool: "backup"}, nil)
	saved.Apply(delta)
	saved.Apply(policy.Settle(saved, backup.(*gate.Allow).Ticket.Number, gate.Success))
	prepared := policy.Prepare(gate.Call{Tool: "delete"})
	for _, state := range []*gate.State{policy.NewState(nil), saved} {
		decision, _ := prepared.Decide(state, nil)
		fmt.Printf("%T\n", decision)
	}
	// Output:
	// *gate.Refusal
	// *gate.Allow
}

// All verdicts are available for a refusal, too.
func ExamplePrepared_Verdicts() {
	policy := policyWith(backupBeforeDelete)
	prepared := policy.Prepare(gate.Call{Tool: "delete"})
	prepared.Decide(policy.NewState(nil), nil)
	for _, v := range prepared.Verdicts() {
		fmt.Println(v.Net, v.Kind == gate.Blocked)
	}
	// Output:
	// backup-before-delete true
}

// A decision changes nothing; its delta does, once it is applied.
func ExampleState_Apply() {
	policy := policyWith(backupBeforeDelete)
	state := policy.NewState(nil)
	decision, delta := policy.Decide(state, gate.Call{ID: "1", Tool: "backup"}, nil)
	fmt.Printf("%T, open: %d\n", decision, len(state.Open()))
	state.Apply(delta)
	for _, open := range state.Open() {
		fmt.Println("open:", open.ID, open.Tool)
	}
	// Output:
	// *gate.Allow, open: 0
	// open: 1 backup
}

// Possible changes can be tried out on a copy.
func ExampleState_Clone() {
	policy := policyWith(backupBeforeDelete)
	state := policy.NewState(nil)
	trial := state.Clone()
	_, delta := trial.Policy().Decide(trial, gate.Call{Tool: "backup"}, nil)
	trial.Apply(delta)
	fmt.Println(len(state.Open()), len(trial.Open()))
	// Output: 0 1
}

// A net that counts equal calls in a row remembers the last call.
func ExampleNetData_Row() {
	policy := policyWith(gate.Net{
		Name: "loops", Row: true, Places: []string{"tries"}, Initial: map[string]int{"tries": 2},
		Transitions: []gate.Transition{{Name: "poll", Inputs: []string{"tries"}, Tools: gate.Tools("poll")}},
	})
	state := policy.NewState(nil)
	var rows []string
	for _, args := range []string{`{"id": 1, "all": true}`, `{"all": true, "id": 1}`, `{"id": 2}`} {
		_, delta := policy.Decide(state, gate.Call{Tool: "poll", Args: []byte(args)}, nil)
		state.Apply(delta)
		rows = append(rows, state.Nets[0].Row())
	}
	fmt.Println(rows[0] == rows[1], rows[1] == rows[2])
	// Output: true false
}

// Editing a file while all files are being tested prevents that test from being evidence for this
// file. The test remains evidence for the others.
func ExampleNetData_Lapsed() {
	path := gate.Field{Path: "path"}
	policy := policyWith(gate.Net{
		Name: "tested", Places: []string{"dirty", "tested"}, Initial: map[string]int{"dirty": 1},
		Key: []gate.Field{path},
		Transitions: []gate.Transition{
			{Name: "test", Inputs: []string{"dirty"}, Outputs: []string{"tested"}, Tools: gate.Tools("test"), Deferred: true, Observe: true, Key: []gate.Field{{Path: "$.paths[*]", Result: true}}},
			{Name: "push", Inputs: []string{"tested"}, Outputs: []string{"dirty"}, Tools: gate.Tools("push")},
			{Name: "edit", Inputs: []string{"tested"}, Outputs: []string{"dirty"}, Tools: gate.Tools("edit"), Observe: true, Spoils: true},
		},
	})
	state := policy.NewState(nil)
	for _, call := range []gate.Call{{Tool: "test"}, {Tool: "edit", Args: []byte(`{"path": "a.go"}`)}} {
		_, delta := policy.Decide(state, call, nil)
		state.Apply(delta)
	}
	edited := state.Nets[0].Values.Get(`"a.go"`)
	for _, f := range edited.Spoilers() {
		fmt.Println("under way:", f.Name)
	}
	for _, f := range edited.Lapsed() {
		fmt.Println("no evidence:", f.Name)
	}
	// Output:
	// under way: edit
	// no evidence: test
}

// A call in flight is identified by its number and by its session. A net in shadow mode waits for
// it like a net that enforces.
func ExampleNetData_Waits() {
	net := backupBeforeDelete
	net.Shadow = true
	policy := policyWith(net)
	state := policy.NewState(nil)
	_, delta := policy.Decide(state, gate.Call{Tool: "backup"}, nil)
	state.Apply(delta)
	backup, other := gate.Flight{Call: 1}, gate.Flight{Owner: 7, Call: 1}
	fmt.Println(backup.SameCall(&other), state.Nets[0].Deciding().Waits(&backup), state.Nets[0].Waits(&other))
	// Output: false true false
}

// A net in shadow mode decides based on the state that it would have if it blocked.
func ExampleNetData_Deciding() {
	net := backupBeforeDelete
	net.Shadow = true
	policy := policyWith(net)
	state := policy.NewState(nil)
	fmt.Println(state.Nets[0].Deciding() == state.Nets[0].Shadow.Enforced)
	// Output: true
}

// Calls in two sessions can have the same number.
func ExampleFlight() {
	one, two := gate.Flight{Owner: 1, Call: 3}, gate.Flight{Owner: 2, Call: 3}
	fmt.Println(one.SameCall(&two), one.SameCall(&one))
	// Output: false true
}

// A limit whose number changes takes over the usage of the earlier limit.
func ExamplePolicy_Heirs() {
	before, now := policyWith(limitOfPushes(3)), policyWith(limitOfPushes(5))
	fmt.Println(now.Heirs(before.IDs()), now.IDs()[0].Print == before.IDs()[0].Print)
	// Output: [0] false
}

// limitOfPushes returns "limit push to 3 per session" with the given number.
func limitOfPushes(n int) gate.Net {
	net := threePushes
	net.Labels, net.Initial = &gate.Labels{}, map[string]int{"budget": n}
	return net
}

// A limit that was lowered below its usage remembers the excess.
func ExampleNetData_Debt() {
	before, now := policyWith(limitOfPushes(7)), policyWith(limitOfPushes(3))
	state := before.NewState(nil)
	for range 5 {
		_, delta := before.Decide(state, gate.Call{Tool: "push"}, nil)
		state.Apply(delta)
	}
	adopted, _ := now.Adopt(state, gate.AdoptOptions{})
	fmt.Println(adopted.Nets[0].Marking, adopted.Nets[0].Debt().Amount.RatString())
	// Output: [0] 2
}

// A fate is printed as a word.
func ExampleFate() {
	fmt.Println(gate.Held)
	// Output: held
}
