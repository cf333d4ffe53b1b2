package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// newSession returns a session for a policy with the given nets.
func newSession(nets ...gate.Net) *gate.Session {
	policy, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	return gate.NewSession(policy, gate.SessionOptions{})
}

// try decides a call, prints the result, and settles the call with outcome o.
func try(s *gate.Session, tool string, o gate.Outcome) {
	switch d := s.Decide(gate.Call{Tool: tool}, nil).(type) {
	case *gate.Refusal:
		fmt.Printf("%s: %s\n", tool, d.Text)
	case *gate.Ask:
		fmt.Printf("%s: a person must approve %s\n", tool, d.Steps[0].Transition)
		s.Withdraw(d)
	case *gate.Allow:
		fmt.Printf("%s: allowed\n", tool)
		d.Ticket.Settle(o)
	}
}

var toolApproval = gate.Net{
	Name:    "tool-approval",
	Places:  []string{"idle", "ready"},
	Initial: map[string]int{"idle": 1},
	Free:    []string{"ls", "read"},
	Transitions: []gate.Transition{
		{Name: "start", Inputs: []string{"idle"}, Outputs: []string{"ready"}},
		{Name: "execShell", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("bash"), Manual: true},
		{Name: "execWrite", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("write", "edit"), Manual: true},
	},
}

var backupBeforeDelete = gate.Net{
	Name:    "backup-before-delete",
	Places:  []string{"ready", "saved"},
	Initial: map[string]int{"ready": 1},
	Transitions: []gate.Transition{
		{Name: "backup", Inputs: []string{"ready"}, Outputs: []string{"saved"}, Tools: gate.Tools("backup"), Deferred: true},
		{Name: "delete", Inputs: []string{"saved"}, Outputs: []string{"ready"}, Tools: gate.Tools("delete")},
	},
	Reason: "delete requires a successful call to backup first.",
}

func Example() {
	s := newSession(backupBeforeDelete)
	try(s, "delete", gate.Success)
	try(s, "backup", gate.Failure)
	try(s, "delete", gate.Success)
	try(s, "backup", gate.Success)
	try(s, "delete", gate.Success)
	try(s, "delete", gate.Success)
	// Output:
	// delete: delete requires a successful call to backup first.
	// backup: allowed
	// delete: delete requires a successful call to backup first.
	// backup: allowed
	// delete: allowed
	// delete: delete requires a successful call to backup first.
}

func Example_toolApproval() {
	s := newSession(toolApproval)
	try(s, "ls", gate.Success)
	try(s, "bash", gate.Success)
	try(s, "unknown", gate.Success)
	fmt.Print(s.Status())
	// Output:
	// ls: allowed
	// bash: a person must approve execShell
	// unknown: allowed
	// tool-approval (active): ready:1
}

func ExampleSession_Decide() {
	s := newSession(toolApproval)
	call := gate.Call{ID: "1", Tool: "bash", Args: []byte(`{"command":"make"}`)}
	ask := s.Decide(call, nil).(*gate.Ask)
	fmt.Println("question:", ask.Steps[0].Reason)
	// The person approves. The call is decided again in the current state.
	allow := s.Decide(call, ask.Grant()).(*gate.Allow)
	defer allow.Ticket.Close() // an early return settles as unknown
	fmt.Println("gated by", allow.Nets[0].Transition)
	allow.Ticket.Settle(gate.Success)
	// Output:
	// question: bash requires human approval.
	// gated by execShell
}

func ExampleConfirm() {
	s := newSession(toolApproval)
	ask := func(_ context.Context, a *gate.Ask) (bool, error) {
		fmt.Println("approve", a.Steps[0].Name, "by", a.Steps[0].Transition)
		return a.Call.Tool == "edit", nil
	}
	for _, tool := range []string{"edit", "bash", "read"} {
		switch d := gate.Confirm(context.Background(), s, gate.Call{Tool: tool}, ask).(type) {
		case *gate.Allow:
			fmt.Println(tool, "allowed")
			d.Ticket.Settle(gate.Success)
		case *gate.Refusal:
			fmt.Println(d.Text)
		}
	}
	// Output:
	// approve edit by execWrite
	// edit allowed
	// approve bash by execShell
	// bash requires human approval.
	// read allowed
}

func ExampleTicket_Settle() {
	s := newSession(backupBeforeDelete)
	allow := s.Decide(gate.Call{ID: "1", Tool: "backup"}, nil).(*gate.Allow)
	fmt.Print(s.Status())
	allow.Ticket.Settle(gate.Unknown) // the connection was lost
	try(s, "delete", gate.Success)
	allow.Ticket.Settle(gate.Success) // the result arrived late
	fmt.Print(s.Status())
	// Output:
	// backup-before-delete (active): ready:1 (1 in flight)
	// delete: delete requires a successful call to backup first.
	// backup-before-delete (active): saved:1
}

func ExampleSession_Activate() {
	policy, err := gate.NewPolicy([]gate.Net{toolApproval, backupBeforeDelete}, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	s := gate.NewSession(policy, gate.SessionOptions{Active: []string{"tool-approval"}})
	try(s, "delete", gate.Success)
	fmt.Println(s.Activate("backup-before-delete"))
	try(s, "delete", gate.Success)
	fmt.Println(s.Deactivate("backup-before-delete"))
	fmt.Println(s.Activate("nothing"))
	fmt.Print(s.Status())
	// Output:
	// delete: allowed
	// <nil>
	// delete: delete requires a successful call to backup first.
	// <nil>
	// unknown net "nothing"; the nets are: tool-approval, backup-before-delete
	// tool-approval (active): ready:1
	// backup-before-delete (inactive): ready:1
}

// A net can remember successful calls and use them to check the arguments of later calls.
func ExampleNet_validate() {
	net := backupBeforeDelete
	net.OnSuccess = func(f gate.Firing) {
		if f.Transition == "backup" {
			f.Meta["saved"] = string(f.Call.Args)
		}
	}
	net.Validate = func(f gate.Firing) error {
		if f.Transition == "delete" && f.Meta["saved"] != string(f.Call.Args) {
			return errors.New("only what was backed up may be deleted")
		}
		return nil
	}
	s := newSession(net)
	for _, line := range []string{`backup {"path":"a"}`, `delete {"path":"b"}`, `delete {"path":"a"}`} {
		tool, args, _ := strings.Cut(line, " ")
		switch d := s.Decide(gate.Call{Tool: tool, Args: []byte(args)}, nil).(type) {
		case *gate.Allow:
			fmt.Println(line, "is allowed.")
			d.Ticket.Settle(gate.Success)
		case *gate.Refusal:
			fmt.Println(d.Text)
		}
	}
	// Output:
	// backup {"path":"a"} is allowed.
	// only what was backed up may be deleted
	// delete {"path":"a"} is allowed.
}

// If several nets apply to a call, all of them must agree.
func Example_severalNets() {
	limit := gate.Net{
		Name: "two-deletes", Places: []string{"budget"}, Initial: map[string]int{"budget": 1},
		Transitions: []gate.Transition{{Name: "delete", Inputs: []string{"budget"}, Tools: gate.Tools("delete")}},
		Reason:      "delete has reached its limit of 1 calls per session.",
	}
	s := newSession(backupBeforeDelete, limit)
	for _, tool := range []string{"backup", "delete", "delete", "backup", "delete"} {
		try(s, tool, gate.Success)
	}
	// Output:
	// backup: allowed
	// delete: allowed
	// delete: delete requires a successful call to backup first. delete has reached its limit of 1 calls per session.
	// backup: allowed
	// delete: delete has reached its limit of 1 calls per session.
}

func ExampleSession_Prompt() {
	fmt.Print(newSession(toolApproval).Prompt())
	// Output:
	// ## Active Petri Nets
	//
	// ### tool-approval
	// Available gated tools: bash, write, edit
	// Free tools: ls, read
	// State: ready:1
}

// OnDecision receives each decision with all details.
func ExampleSessionOptions() {
	policy, err := gate.NewPolicy([]gate.Net{backupBeforeDelete}, gate.PolicyOptions{Shadow: true})
	if err != nil {
		panic(err)
	}
	s := gate.NewSession(policy, gate.SessionOptions{OnDecision: func(c gate.Call, d gate.Decision) {
		if a, ok := d.(*gate.Allow); ok && a.Would != nil {
			fmt.Println("to be refused one day:", c.Tool, a.Would.Kind, a.Would.Blocks[0].Net)
		}
	}})
	try(s, "backup", gate.Failure)
	try(s, "delete", gate.Success)
	// Output:
	// backup: allowed
	// to be refused one day: delete blocked backup-before-delete
	// delete: allowed
}

func ExampleSession_Replay() {
	s := newSession(backupBeforeDelete)
	s.Replay([]gate.Entry{{Call: gate.Call{Tool: "backup"}, Outcome: gate.Success}})
	try(s, "delete", gate.Success)
	// Output:
	// delete: allowed
}

func ExamplePolicy_Names() {
	labels := gate.Labels{Maps: []gate.Map{
		{Tool: "chat", Field: "text", As: "loud", Match: func(s string) bool { return strings.Contains(s, "!") }},
	}}
	policy, err := gate.NewPolicy([]gate.Net{{
		Name: "block-chat.send", Labels: &labels, Places: []string{"locked"},
		Transitions: []gate.Transition{{Name: "do", Inputs: []string{"locked"}, Tools: gate.Tools("chat.send")}},
	}}, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	for _, n := range policy.Names(gate.Call{Tool: "chat", Args: []byte(`{"action":"send","text":"hey!"}`)}) {
		fmt.Println(n.Text, n.Certain)
	}
	// Output:
	// chat true
	// chat.send true
	// loud false
}

// A policy with some of the nets uses the names and options of the whole policy.
func ExamplePolicy_Options() {
	all, err := gate.NewPolicy([]gate.Net{backupBeforeDelete, toolApproval}, gate.PolicyOptions{Deny: true})
	if err != nil {
		panic(err)
	}
	one, err := gate.NewPolicy([]gate.Net{all.Nets()[0].Net}, all.Options())
	if err != nil {
		panic(err)
	}
	try(gate.NewSession(one, gate.SessionOptions{}), "bash", gate.Success)
	// Output:
	// bash: bash is not on the list of allowed tools.
}

func ExamplePolicy_Maps() {
	labels := &gate.Labels{Maps: []gate.Map{
		{Tool: "bash", Field: "command", As: "delete", Match: func(s string) bool { return strings.Contains(s, "rm") }},
	}}
	net := backupBeforeDelete
	net.Labels = labels
	policy, err := gate.NewPolicy([]gate.Net{net}, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	for _, m := range policy.Maps() {
		fmt.Println(m.Tool, m.Field, "as", m.As)
	}
	// Output:
	// bash command as delete
}

func ExampleNewPolicy_errors() {
	_, err := gate.NewPolicy([]gate.Net{{
		Name: "typo", Places: []string{"ready"},
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"redy"}, Tools: gate.Tools("x")}},
		Rule:        gate.Position{File: "nets.yaml", Line: 4, Column: 3},
	}}, gate.PolicyOptions{})
	fmt.Println(err)
	// Output:
	// nets.yaml:4:3: net "typo": transition "t": unknown place "redy" (did you mean "ready"?)
}

func ExampleTransition_clock() {
	s := newSession(gate.Net{
		Name: "two a minute", Places: []string{"budget", "spent"}, Initial: map[string]int{"budget": 2},
		Transitions: []gate.Transition{
			{Name: "push", Inputs: []string{"budget"}, Outputs: []string{"spent"}, Tools: gate.Tools("push")},
			{Name: "refill", Inputs: []string{"spent"}, Outputs: []string{"budget"}, Every: 30 * time.Second},
		},
		Reason: "push is possible twice a minute.",
	})
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, after := range []time.Duration{0, 0, 10 * time.Second, 30 * time.Second} {
		switch d := s.Decide(gate.Call{Tool: "push", Time: start.Add(after)}, nil).(type) {
		case *gate.Allow:
			fmt.Println(after, "allowed")
		case *gate.Refusal:
			fmt.Println(after, d.Text)
		}
	}
	// Output:
	// 0s allowed
	// 0s allowed
	// 10s push is possible twice a minute; the next call is possible in 20s.
	// 30s allowed
}

func ExampleNewShared() {
	policy, err := gate.NewPolicy([]gate.Net{{
		Name: "once", Places: []string{"left"}, Initial: map[string]int{"left": 1},
		Transitions: []gate.Transition{{Name: "deploy", Inputs: []string{"left"}, Tools: gate.Tools("deploy")}},
		Scope:       gate.ScopePrincipal,
	}}, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	alice := gate.NewShared(policy, gate.ScopePrincipal, gate.SharedOptions{})
	try(gate.NewSession(policy, gate.SessionOptions{Principal: alice}), "deploy", gate.Success)
	try(gate.NewSession(policy, gate.SessionOptions{Principal: alice}), "deploy", gate.Success)
	// Output:
	// deploy: allowed
	// deploy: Tool 'deploy' is not available in the current state.
}

func ExampleSession_Shadow() {
	s := newSession(gate.Net{
		Name: "once", Places: []string{"left"}, Initial: map[string]int{"left": 1},
		Transitions: []gate.Transition{{Name: "deploy", Inputs: []string{"left"}, Tools: gate.Tools("deploy")}},
		Reason:      "deploy is possible once.",
		Shadow:      true,
	})
	for range 2 {
		a := s.Decide(gate.Call{Tool: "deploy"}, nil).(*gate.Allow)
		a.Ticket.Settle(gate.Success)
		if a.Would != nil {
			fmt.Println("would be refused:", a.Would.Text)
		}
	}
	fmt.Println(s.Shadow().Refused)
	// Output:
	// would be refused: deploy is possible once.
	// 1
}

func ExampleSession_Tick() {
	s := newSession(gate.Net{
		Name: "warm-up", Places: []string{"cold", "warm"}, Initial: map[string]int{"cold": 1},
		Transitions: []gate.Transition{{Name: "heat", Inputs: []string{"cold"}, Outputs: []string{"warm"}, Every: time.Minute}},
	})
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s.Tick(start)
	fmt.Print(s.Status())
	s.Tick(start.Add(time.Hour))
	fmt.Print(s.Status())
	// Output:
	// warm-up (active): cold:1; next at 2026-01-02T12:01:00Z
	// warm-up (active): warm:1
}

func ExampleTicket_SettleAt() {
	s := newSession(gate.Net{
		Name: "pause", Places: []string{"ready", "tired"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "run", Inputs: []string{"ready"}, Outputs: []string{"tired"}, Tools: gate.Tools("run"), Deferred: true},
			{Name: "rest", Inputs: []string{"tired"}, Outputs: []string{"ready"}, Every: time.Minute},
		},
	})
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	a := s.Decide(gate.Call{Tool: "run", Time: start}, nil).(*gate.Allow)
	a.Ticket.SettleAt(gate.Success, start.Add(time.Second))
	fmt.Print(s.Status())
	// Output:
	// pause (active): tired:1; next at 2026-01-02T12:01:01Z
}

func ExamplePolicy_Switch() {
	policy, err := gate.NewPolicy([]gate.Net{toolApproval, backupBeforeDelete}, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	active, err := policy.Switch(nil, "tool-approval", false)
	fmt.Println(active, err)
	_, err = policy.Switch(active, "tool-approva", true)
	fmt.Println(err)
	// Output:
	// [backup-before-delete] <nil>
	// unknown net "tool-approva"; did you mean "tool-approval"?
}
