package examples

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/rules"
)

// These examples correspond to PetriFlow's documentation, as a Go program: a net, a call, its
// result, several nets, rules, and the facts known about them before anyone makes a call.

// toolApproval corresponds to the argument of defineSkillNet; NewPolicy checks it.
var toolApproval = gate.Net{
	Name:    "tool-approval",
	Places:  []string{"idle", "ready"},
	Free:    []string{"ls", "read", "grep", "find"},
	Initial: map[string]int{"idle": 1, "ready": 0},
	Transitions: []gate.Transition{
		{Name: "start", Inputs: []string{"idle"}, Outputs: []string{"ready"}},
		{Name: "execShell", Manual: true, Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("bash")},
		{Name: "execWrite", Manual: true, Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("write", "edit")},
	},
}

// commits names bash calls by their effect (toolMapper). Other bash calls are free.
var commits = gate.Net{
	Name:    "commits",
	Places:  []string{"working", "committed"},
	Free:    []string{"bash"},
	Initial: map[string]int{"working": 1},
	Mapper: func(c gate.Call) []gate.Name {
		switch {
		case c.Tool == "bash" && regexp.MustCompile(`\bgit\s+commit\b`).Match(c.Args):
			return []gate.Name{{Text: "git-commit"}}
		case c.Tool == "bash" && regexp.MustCompile(`\bgit\s+push\b`).Match(c.Args):
			return []gate.Name{{Text: "git-push"}}
		}
		return []gate.Name{{Text: c.Tool, Certain: true}}
	},
	Transitions: []gate.Transition{
		{Name: "commit", Deferred: true, Inputs: []string{"working"}, Outputs: []string{"committed"}, Tools: gate.Tools("git-commit")},
		{Name: "push", Inputs: []string{"committed"}, Outputs: []string{"working"}, Tools: gate.Tools("git-push")},
	},
}

// backups examines arguments and remembers successful calls (validateToolCall, onDeferredResult,
// state.meta).
var backups = gate.Net{
	Name:    "backups",
	Places:  []string{"ready"},
	Initial: map[string]int{"ready": 1},
	Transitions: []gate.Transition{
		{Name: "backup", Deferred: true, Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("backup")},
		{Name: "destroy", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("destroy")},
	},
	Validate: func(f gate.Firing) error {
		if f.Transition == "destroy" && f.Meta["saved"] != string(f.Call.Args) {
			return errors.New("Target not backed up")
		}
		return nil
	},
	OnSuccess: func(f gate.Firing) { f.Meta["saved"] = string(f.Call.Args) },
}

// manager corresponds to createGateManager with nets, or with a registry where only some are
// active.
func manager(nets []gate.Net, o gate.PolicyOptions, s gate.SessionOptions) *gate.Session {
	policy, err := gate.NewPolicy(nets, o)
	if err != nil {
		panic(err)
	}
	return gate.NewSession(policy, s)
}

// handle corresponds to handleToolCall, with a person who approves everything that does not concern
// production (ctx.confirm), and to handleToolResult.
func handle(s *gate.Session, line string, o gate.Outcome) {
	tool, args, _ := strings.Cut(line, " ")
	confirm := func(_ context.Context, a *gate.Ask) (bool, error) {
		fmt.Printf("  approve %s of %s?\n", a.Steps[0].Transition, a.Steps[0].Net)
		return !strings.Contains(args, "production"), nil
	}
	switch d := gate.Confirm(context.Background(), s, gate.Call{Tool: tool, Args: []byte(args)}, confirm).(type) {
	case *gate.Refusal:
		fmt.Printf("%s: %s\n", line, d.Text)
	case *gate.Allow:
		fmt.Printf("%s: allowed\n", line)
		d.Ticket.Settle(o)
	}
}

// A single net decides about all tools and blocks those that it does not list.
func Example_oneNet() {
	s := manager([]gate.Net{toolApproval}, gate.PolicyOptions{Deny: true}, gate.SessionOptions{})
	handle(s, `read {"path":"a"}`, gate.Success)
	handle(s, `bash {"command":"rm -rf build/"}`, gate.Success)
	handle(s, `bash {"command":"deploy production"}`, gate.Success)
	handle(s, `fetch`, gate.Success)
	fmt.Println(s.Nets()[0].Marking) // formatMarking
	// Output:
	// read {"path":"a"}: allowed
	//   approve execShell of tool-approval?
	// bash {"command":"rm -rf build/"}: allowed
	//   approve execShell of tool-approval?
	// bash {"command":"deploy production"}: bash requires human approval.
	// fetch: fetch is not on the list of allowed tools.
	// ready:1
}

func Example_severalNets() {
	s := manager([]gate.Net{toolApproval, commits, backups}, gate.PolicyOptions{}, gate.SessionOptions{
		Active: []string{"commits", "backups"},
		OnDecision: func(c gate.Call, d gate.Decision) {
			if r, ok := d.(*gate.Refusal); ok {
				fmt.Println("  recorded:", c.Tool, r.Kind)
			}
		},
	})
	handle(s, `bash {"command":"git push"}`, gate.Success)
	handle(s, `bash {"command":"git commit"}`, gate.Failure)
	handle(s, `bash {"command":"git push"}`, gate.Success)
	handle(s, `bash {"command":"git commit"}`, gate.Success)
	handle(s, `bash {"command":"git push"}`, gate.Success)
	handle(s, `backup {"path":"a"}`, gate.Success)
	handle(s, `destroy {"path":"b"}`, gate.Success)
	handle(s, `destroy {"path":"a"}`, gate.Success)

	fmt.Println(s.Activate("tool-approval")) // addNet
	fmt.Println(s.Deactivate("backups"))     // removeNet
	fmt.Println(s.Activate("tool-approvals"))
	handle(s, `bash {"command":"ls"}`, gate.Success)
	for _, n := range s.Nets() { // getActiveNets, isDynamic
		if n.Active && !n.Static {
			fmt.Println(n.Name, "can be switched off")
		}
	}
	fmt.Print(s.Status()) // formatStatus
	fmt.Print(s.Prompt()) // formatSystemPrompt
	// Output:
	// recorded: bash blocked
	// bash {"command":"git push"}: Tool 'git-push' is not available in the current state.
	// bash {"command":"git commit"}: allowed
	//   recorded: bash blocked
	// bash {"command":"git push"}: Tool 'git-push' is not available in the current state.
	// bash {"command":"git commit"}: allowed
	// bash {"command":"git push"}: allowed
	// backup {"path":"a"}: allowed
	//   recorded: destroy validation
	// destroy {"path":"b"}: Target not backed up
	// destroy {"path":"a"}: allowed
	// <nil>
	// <nil>
	// unknown net "tool-approvals"; did you mean "tool-approval"?
	//   approve execShell of tool-approval?
	// bash {"command":"ls"}: allowed
	// tool-approval can be switched off
	// commits can be switched off
	// tool-approval (active): ready:1
	// commits (active): working:1
	// backups (inactive): ready:1
	// ## Active Petri Nets
	//
	// ### tool-approval
	// Available gated tools: bash, write, edit
	// Free tools: ls, read, grep, find
	// State: ready:1
	//
	// ### commits
	// Available gated tools: git-commit
	// Free tools: bash
	// State: working:1
}

// Rules compile to nets, and a policy can contain both rules and hand-written nets.
func Example_rulesAndNets() {
	file, _ := rules.Parse("safety.rules", []byte(`
map bash.command rm as delete
require backup before delete
require human-approval before slack.sendMessage
limit push to 1 per test
block format
`))
	compiled, err := rules.Compile(file) // compile; rules.Load is loadRules
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range compiled.Verification() {
		fmt.Println(v.Name, v.States)
	}
	s := manager(append(compiled.Nets, commits), gate.PolicyOptions{}, gate.SessionOptions{})
	handle(s, `bash {"command":"rm -rf build/"}`, gate.Success)
	handle(s, `backup`, gate.Success)
	handle(s, `bash {"command":"rm -rf build/"}`, gate.Success)
	handle(s, `slack {"action":"sendMessage"}`, gate.Success)
	handle(s, `slack {"action":"read"}`, gate.Success)
	handle(s, `push`, gate.Success)
	handle(s, `push`, gate.Success)
	handle(s, `test`, gate.Success)
	handle(s, `push`, gate.Success)
	handle(s, `format`, gate.Success)
	// Output:
	// require-backup-before-delete 3
	// approve-before-slack.sendMessage 2
	// limit-push-1-per-test 3
	// block-format 2
	// bash {"command":"rm -rf build/"}: bash `rm -rf build/` (delete) requires a successful call to backup first.
	// backup: allowed
	// bash {"command":"rm -rf build/"}: allowed
	//   approve approve of approve-before-slack.sendMessage?
	// slack {"action":"sendMessage"}: allowed
	// slack {"action":"read"}: allowed
	// push: allowed
	// push: push has reached its limit of 1 call per test.
	// test: allowed
	// push: allowed
	// format: format is blocked and cannot be called.
}

// A script that verifies rules from a file, and a net with its invariant.
func Example_verify() {
	compiled, err := rules.Load(os.DirFS("file-safety"), "files.rules")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(compiled.Nets), "nets,", len(compiled.Verification()), "verified")

	if _, err := gate.NewPolicy(append(compiled.Nets, commits), gate.PolicyOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	e := commits.Explore(0)
	fmt.Printf("%d reachable states, deadlock-free: %v, terminal states: %d\n", e.States, e.Deadlocks == 0, e.Deadlocks)
	one := map[string]int{"working": 1, "committed": 1}
	fmt.Println("one token always:", commits.Conserves(one, 0) == toolnet.Yes)
	for state := range commits.States() {
		fmt.Println(state.Marking)
	}
	// Output:
	// 4 nets, 4 verified
	// 2 reachable states, deadlock-free: true, terminal states: 0
	// one token always: true
	// working:1
	// committed:1
}

// A session that continues is restored from the calls that have succeeded (replay).
func Example_replay() {
	s := manager([]gate.Net{commits}, gate.PolicyOptions{}, gate.SessionOptions{})
	commit := gate.Call{Tool: "bash", Args: []byte(`{"command":"git commit"}`)}
	s.Replay([]gate.Entry{{Call: commit, Outcome: gate.Failure}})
	fmt.Print(s.Status())
	s.Replay([]gate.Entry{{Call: commit, Outcome: gate.Success}})
	fmt.Print(s.Status())
	// Output:
	// commits (active): working:1
	// commits (active): committed:1
}
