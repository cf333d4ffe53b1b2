package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/config/policy"
	"github.com/petrigate/petrigate/gate"
)

const example = `version: 1
rules:
  - inline: |
      map bash.command rm as delete
      require backup before delete
      prove never delete before backup
nets:
  - name: writer
    places: [ready]
    initialMarking: { ready: 1 }
    transitions:
      - { name: write, inputs: [ready], outputs: [ready], tools: [write_file], deferred: true }
      - { name: publish, inputs: [ready], outputs: [ready], tools: [publish], deferred: true }
    validate:
      - { tools: [write_file], require: "within(args.path, '/work')", reason: "Write below /work." }
      - { tools: [publish], require: "args.path in meta.?written.orValue([])", reason: "{args.path} was not written." }
    remember:
      - { transition: write, set: written, to: "meta.?written.orValue([]) + [args.path]" }
    prove: [conserved, no-terminal-states]
`

// load builds the policy from the text of a petrigate.yaml file.
func load(text string) *policy.Policy {
	c, err := config.Parse("petrigate.yaml", []byte(text), config.Options{}) // config.Load reads a file
	if err != nil {
		panic(err)
	}
	p, err := policy.New(c, policy.Options{})
	if err != nil {
		panic(err)
	}
	return p
}

func Example() {
	p := load(example)
	s := p.NewSession("", gate.SessionOptions{})
	for _, c := range []gate.Call{
		{Tool: "bash", Args: []byte(`{"command":"rm -rf build/"}`)},
		{Tool: "write_file", Args: []byte(`{"path":"/etc/passwd"}`)},
		{Tool: "write_file", Args: []byte(`{"path":"/work/a"}`)},
		{Tool: "publish", Args: []byte(`{"path":"/work/b"}`)},
		{Tool: "publish", Args: []byte(`{"path":"/work/a"}`)},
	} {
		switch d := s.Decide(c, nil).(type) {
		case *gate.Allow:
			fmt.Println(c.Tool, "allowed")
			d.Ticket.Settle(gate.Success)
		case *gate.Refusal:
			fmt.Println(strings.TrimSpace(d.Text + " " + p.Remedy(s, c, d).Text))
		}
	}
	// Output:
	// bash `rm -rf build/` (delete) requires a successful call to backup first. Way out: call `backup`; after that `bash` is allowed.
	// Write below /work.
	// write_file allowed
	// /work/b was not written.
	// publish allowed
}

func ExamplePolicy_Verify() {
	report, err := load(example).Verify(context.Background(), policy.VerifyOptions{})
	if err != nil {
		panic(err)
	}
	for _, p := range report.Proofs {
		fmt.Println(p.Claim, "at line", p.Rule.Line, "is", p.Result)
	}
	for _, n := range report.Names {
		fmt.Println(n.Tool.Name, n.Callable, len(n.Shortest))
	}
	// Output:
	// prove never delete before backup at line 6 is proved
	// prove conserved writer at line 19 is proved
	// prove no-terminal-states writer at line 19 is proved
	// backup possible 1
	// delete possible 3
	// write_file possible 1
	// publish possible 1
}

func ExamplePolicy_Remedy() {
	p := load("version: 1\nrules: [{ inline: 'require backup before delete' }, { inline: 'require human-approval before backup' }]\n")
	s := p.NewSession("", gate.SessionOptions{})
	call := gate.Call{Tool: "delete"}
	remedy := p.Remedy(s, call, s.Decide(call, nil).(*gate.Refusal))
	for i, step := range remedy.Steps {
		fmt.Println("call", step.Name, "approved by a person:", slices.Contains(remedy.Asks, i))
	}
	fmt.Println(remedy.Text)
	// Output:
	// call backup approved by a person: true
	// Way out: call `backup`, which a person has to approve; after that `delete` is allowed.
}

// Sessions of the same principal share the limits per user.
func ExamplePolicy_NewSession() {
	p := load("version: 1\nrules: [{ inline: 'limit push to 1 per user' }]\n")
	for _, who := range []string{"alice", "bob", "alice"} {
		s := p.NewSession(who, gate.SessionOptions{})
		switch d := s.Decide(gate.Call{Tool: "push"}, nil).(type) {
		case *gate.Allow:
			fmt.Println(who, "may push")
		case *gate.Refusal:
			fmt.Println(who, "may not:", d.Text)
		}
	}
	// Output:
	// alice may push
	// bob may push
	// alice may not: push has reached its limit of 1 call per user.
}

func ExampleNew_problems() {
	c, err := config.Parse("petrigate.yaml", []byte("version: 1\nrules: [{ inline: 'blok rm' }]\n"), config.Options{})
	if err != nil {
		panic(err)
	}
	_, err = policy.New(c, policy.Options{})
	fmt.Println(err)
	// Output:
	// petrigate.yaml:2:20: unknown statement "blok" (did you mean "block"?)
}
