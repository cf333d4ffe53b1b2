package gate_test

import (
	"fmt"
	"log"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// The nets in a policy, and whether the policy has changed.
func ExamplePolicy_Nets() {
	policy := policyWith(backupBeforeDelete, threePushes)
	for _, n := range policy.Nets() {
		fmt.Println(n.Name, n.Places)
	}
	again, other := policyWith(backupBeforeDelete, threePushes), policyWith(threePushes)
	fmt.Println(policy.Fingerprint() == again.Fingerprint(), policy.Fingerprint() == other.Fingerprint())
	fmt.Println(policy.Nets()[1].Fingerprint == other.Nets()[0].Fingerprint)
	// Output:
	// backup-before-delete [ready saved]
	// three-pushes [budget]
	// true false
	// true
}

// A rule that occurs in two files is a single net with a single budget.
func ExamplePolicy_Merged() {
	first, again := threePushes, threePushes
	first.Labels, again.Labels = &gate.Labels{}, &gate.Labels{}
	first.Rule = gate.Position{File: "team.rules", Line: 3, Column: 1}
	again.Rule = gate.Position{File: "mine.rules", Line: 7, Column: 1}
	policy := policyWith(first, again)
	for _, m := range policy.Merged() {
		fmt.Println(m.Again, "repeats", m.First)
	}
	fmt.Println(len(policy.Nets()), "net")
	// Output:
	// mine.rules:7:1 repeats team.rules:3:1
	// 1 net
}

// A policy in shadow mode records refusals without refusing anything.
func ExamplePolicy_Shadow() {
	policy, err := gate.NewPolicy([]gate.Net{backupBeforeDelete}, gate.PolicyOptions{Shadow: true})
	if err != nil {
		panic(err)
	}
	state := policy.NewState(nil)
	decision, delta := policy.Decide(state, gate.Call{Tool: "delete"}, nil)
	state.Apply(delta)
	fmt.Printf("%t %T\n", policy.Shadow(), decision)
	fmt.Println(decision.(*gate.Allow).Would.Text)
	report := policy.ShadowOf(state)
	fmt.Println(report.Refused, "refused by", report.Nets[0].Name)
	// Output:
	// true *gate.Allow
	// delete requires a successful call to backup first.
	// 1 refused by backup-before-delete
}

// The tools worth showing to a client, and the nets that hide the others.
func ExamplePolicy_Advertise() {
	policy := policyWith(backupBeforeDelete)
	a := policy.Advertise(policy.NewState(nil), []gate.Call{{Tool: "backup"}, {Tool: "delete"}, {Tool: "read"}}, time.Time{})
	fmt.Println(a.Tools)
	for _, h := range a.Hidden {
		fmt.Println(h.Tool, "is hidden by", h.Net)
	}
	// Output:
	// [backup read]
	// delete is hidden by backup-before-delete
}

// An admitted call is settled by its number, in whatever state the store has by then.
func ExamplePolicy_Settle() {
	policy := policyWith(backupBeforeDelete)
	state := policy.NewState(nil)
	decision, delta := policy.Decide(state, gate.Call{Tool: "backup"}, nil)
	state.Apply(delta)
	number := decision.(*gate.Allow).Ticket.Number
	state.Apply(policy.Settle(state, number, gate.Success))
	fmt.Println(policy.NetsOf(state)[0].Marking)
	fmt.Println(policy.Settle(state, number, gate.Failure) == nil) // already settled
	// Output:
	// saved:1
	// true
}

// If it is known when a call ended, a clock that waits for the call starts at the right time.
func ExamplePolicy_SettleAt() {
	policy := policyWith(gate.Net{
		Name: "pause", Places: []string{"ready", "tired"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "run", Inputs: []string{"ready"}, Outputs: []string{"tired"}, Tools: gate.Tools("run"), Deferred: true},
			{Name: "rest", Inputs: []string{"tired"}, Outputs: []string{"ready"}, Every: time.Minute},
		},
	})
	state := policy.NewState(nil)
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	decision, delta := policy.Decide(state, gate.Call{Tool: "run", Time: start}, nil)
	state.Apply(delta)
	state.Apply(policy.SettleAt(state, decision.(*gate.Allow).Ticket.Number, gate.Success, start.Add(10*time.Second)))
	for _, after := range []time.Duration{time.Minute, 70 * time.Second} {
		state.Apply(policy.Tick(state, start.Add(after)))
		fmt.Println(after, policy.NetsOf(state)[0].Marking)
	}
	// Output:
	// 1m0s tired:1
	// 1m10s ready:1
}

// All nets return to their initial state; a call in flight settles without effect.
func ExamplePolicy_Reset() {
	policy := policyWith(backupBeforeDelete)
	state := policy.NewState(nil)
	decision, delta := policy.Decide(state, gate.Call{Tool: "backup"}, nil)
	state.Apply(delta)
	state.Apply(policy.Reset(state))
	state.Apply(policy.Settle(state, decision.(*gate.Allow).Ticket.Number, gate.Success))
	fmt.Println(policy.NetsOf(state)[0].Marking)
	// Output: ready:1
}

// The named nets are active; the others can be switched on later.
func ExamplePolicy_NewState() {
	policy := policyWith(backupBeforeDelete, threePushes)
	for _, active := range [][]string{nil, {"three-pushes"}} {
		for _, n := range policy.NetsOf(policy.NewState(active)) {
			fmt.Println(n.Name, n.Active)
		}
	}
	// Output:
	// backup-before-delete true
	// three-pushes true
	// backup-before-delete false
	// three-pushes true
}

// A transition can list several tools. In a net with labels, a tool's action is a name of its own.
func ExampleTools() {
	s := newSession(gate.Net{
		Name: "outbox", Labels: &gate.Labels{}, Places: []string{"left"}, Initial: map[string]int{"left": 1},
		Transitions: []gate.Transition{{Name: "send", Inputs: []string{"left"}, Tools: gate.Tools("post", "mail.send")}},
		Reason:      "One message is enough.",
	})
	try(s, "post", gate.Success)
	for _, action := range []string{"read", "send"} {
		switch d := s.Decide(gate.Call{Tool: "mail", Args: []byte(`{"action": "` + action + `"}`)}, nil).(type) {
		case *gate.Allow:
			fmt.Println("mail to", action, "is allowed")
		case *gate.Refusal:
			fmt.Println("mail to", action, "is refused:", d.Text)
		}
	}
	// Output:
	// post: allowed
	// mail to read is allowed
	// mail to send is refused: One message is enough.
}

// A principal's usage can be reset for all its sessions.
func ExampleShared_Reset() {
	once := threePushes
	once.Initial = map[string]int{"budget": 1}
	once.Scope, once.Reason = gate.ScopePrincipal, "push is possible once."
	policy := policyWith(once)
	alice := gate.NewShared(policy, gate.ScopePrincipal, gate.SharedOptions{})
	first := gate.NewSession(policy, gate.SessionOptions{Principal: alice})
	second := gate.NewSession(policy, gate.SessionOptions{Principal: alice})
	try(first, "push", gate.Success)
	first.Reset() // for the session's own nets
	try(second, "push", gate.Success)
	alice.Reset()
	try(second, "push", gate.Success)
	// Output:
	// push: allowed
	// push: push is possible once.
	// push: allowed
}

// An argument that only describes a call is not part of the call's identity.
func ExamplePolicy_Ignored() {
	policy, err := gate.NewPolicy(nil, gate.PolicyOptions{Ignored: []gate.Ignored{{Tool: "run", Field: "description"}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(policy.Ignored(&gate.Call{Tool: "run"}), policy.Ignored(&gate.Call{Tool: "read"}))
	// Output: [description] []
}

func ExamplePolicy_Row() {
	once := gate.Net{
		Name: "once", Places: []string{"budget"}, Initial: map[string]int{"budget": 1}, Row: true,
		Transitions: []gate.Transition{{Name: "run", Inputs: []string{"budget"}, Tools: gate.Tools("run")}},
	}
	policy, err := gate.NewPolicy([]gate.Net{once}, gate.PolicyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	a, b := gate.Call{Tool: "run", Args: []byte(`{"n":1}`)}, gate.Call{Tool: "run", Args: []byte(`{ "n": 1.0 }`)}
	fmt.Println(policy.Row(&a) == policy.Row(&b))
	// Output: true
}
