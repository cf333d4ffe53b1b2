package gate_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
)

// twicePerChannel is a net that lets post be called twice for each channel.
var twicePerChannel = gate.Net{
	Name:        "twice",
	Places:      []string{"budget"},
	Initial:     map[string]int{"budget": 2},
	Transitions: []gate.Transition{{Name: "post", Inputs: []string{"budget"}, Tools: gate.Tools("post")}},
	Key:         []gate.Field{{Path: "channel"}},
	Reason:      "{key} has had its two posts.",
}

// post makes the call and prints the result.
func post(s *gate.Session, args string) {
	switch d := s.Decide(gate.Call{Tool: "post", Args: []byte(args)}, nil).(type) {
	case *gate.Allow:
		d.Ticket.Settle(gate.Success)
		fmt.Println("allowed")
	case *gate.Refusal:
		fmt.Println(d.Text)
	}
}

// A net with a key has a marking for each field value.
func ExampleNet_key() {
	s := newSession(twicePerChannel)
	post(s, `{"channel": "news"}`)
	post(s, `{"channel": ["news", "team"]}`)
	post(s, `{"channel": ["team", "news"]}`)
	post(s, `{"channel": "team"}`)
	post(s, `{}`)
	fmt.Print(s.Status())
	// Output:
	// allowed
	// allowed
	// news has had its two posts.
	// allowed
	// post needs a value in `channel`: the call has no such value.
	// twice (active): budget:2 for each channel; news: no tokens; team: no tokens
}

// A net's state lists the values that differ from the default state.
func ExampleNetState_String() {
	s := newSession(twicePerChannel)
	post(s, `{"channel": "news"}`)
	for _, n := range s.Nets() {
		fmt.Println(&n)
	}
	// Output:
	// allowed
	// budget:2 for each channel; news: budget:1
}

// A policy limits the number of values that a net stores.
func ExamplePolicyOptions_keys() {
	p, err := gate.NewPolicy([]gate.Net{twicePerChannel}, gate.PolicyOptions{Keys: 1})
	if err != nil {
		panic(err)
	}
	s := gate.NewSession(p, gate.SessionOptions{})
	post(s, `{"channel": "news"}`)
	post(s, `{"channel": "team"}`)
	// Output:
	// allowed
	// Net 'twice' already keeps 1 values of channel and accepts no new one until a reset.
}

// A net's state contains the values whose marking differs from the default state.
func ExampleValues() {
	p := policyWith(twicePerChannel)
	s := p.NewState(nil)
	_, delta := p.Decide(s, gate.Call{Tool: "post", Args: []byte(`{"channel": ["news", 7]}`)}, nil)
	s.Apply(delta)
	values := s.Nets[0].Values
	fmt.Println(values.Len(), values.Get(`"news"`).Marking, values.Get("7").Marking, values.Get("8"))
	for value, data := range values.All() {
		fmt.Println(value, data.Marking)
	}
	// Unordered output:
	// 2 [1] [1] <nil>
	// "news" [1]
	// 7 [1]
}

// A call can also be settled by its number.
func ExampleSession_End() {
	s := gate.NewSession(keyedPolicy(), gate.SessionOptions{})
	number := s.Decide(gate.Call{Tool: "contacts"}, nil).(*gate.Allow).Ticket.Number
	end := gate.End{Outcome: gate.Success, Result: []byte(`{"people": [{"email": "ann@example.org"}]}`)}
	fmt.Println(s.End(number, end), s.End(number, end))
	fmt.Print(s.Status())
	// Output:
	// true false
	// require-contacts-before-send (active): ready:1 for each to; ann@example.org: gate:1
}

// The same works in a custom store.
func ExamplePolicy_End() {
	p := keyedPolicy()
	s := p.NewState(nil)
	d, delta := p.Decide(s, gate.Call{Tool: "contacts"}, nil)
	s.Apply(delta)
	s.Apply(p.End(s, d.(*gate.Allow).Ticket.Number, gate.End{Outcome: gate.Success, Result: []byte(`{"people": [{"email": "ann@example.org"}]}`)}))
	fmt.Println(p.NetsOf(s)[0].Values[0].Key, p.NetsOf(s)[0].Values[0].Marking)
	// Output: [{to "ann@example.org"}] gate:1
}

// A result is read once, before states are locked.
func ExamplePreparedEnd_Settle() {
	p := keyedPolicy()
	prepared := p.PrepareEnd(gate.End{Outcome: gate.Success, Result: []byte(`{"people": [{"email": "ann@example.org"}]}`)})
	s := p.NewState(nil)
	d, delta := p.Decide(s, gate.Call{Tool: "contacts"}, nil)
	s.Apply(delta)
	number := d.(*gate.Allow).Ticket.Number
	s.Apply(prepared.Settle(s, number))
	fmt.Println(s.Nets[0].Values.Len(), prepared.Settle(s, number) == nil)
	// Output: 1 true
}

// A caller need not store results that no net reads.
func ExamplePolicy_ReadsResults() {
	fmt.Println(keyedPolicy().ReadsResults(), policyWith(twicePerChannel).ReadsResults())
	// Output: true false
}

// Several people can be asked.
func ExampleAsk_Approvals() {
	s := newSession(gate.Net{
		Name:        "four-eyes",
		Places:      []string{"ready"},
		Initial:     map[string]int{"ready": 1},
		Transitions: []gate.Transition{{Name: "deploy", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("deploy"), Manual: true, Approvals: 2}},
	})
	ask := s.Decide(gate.Call{Tool: "deploy"}, nil).(*gate.Ask)
	fmt.Println(ask.Approvals(), ask.Steps[0].Reason)
	// Output: 2 deploy requires the approval of 2 different people.
}

// A map can apply to all tools whose names match a pattern.
func ExampleMap_glob() {
	p := policyWith(gate.Net{
		Name: "secrets", Places: []string{"never"},
		Transitions: []gate.Transition{{Name: "read", Inputs: []string{"never"}, Outputs: []string{"never"}, Tools: gate.Tools("secret")}},
		Maps: []gate.Map{{
			Tool: "*_file", Glob: true, Field: "path", As: "secret",
			Match: func(path string) bool { return path == ".env" },
		}},
		Reason: "Secrets stay where they are.",
	})
	s := gate.NewSession(p, gate.SessionOptions{})
	for _, tool := range []string{"read_file", "write_file", "list"} {
		d := s.Decide(gate.Call{Tool: tool, Args: []byte(`{"path": ".env"}`)}, nil)
		if r, refused := d.(*gate.Refusal); refused {
			fmt.Printf("%s: %s\n", tool, r.Text)
		} else {
			fmt.Printf("%s: allowed\n", tool)
		}
	}
	// Output:
	// read_file: Secrets stay where they are.
	// write_file: Secrets stay where they are.
	// list: allowed
}

// exitCode is a judge with a single condition: the result is 0.
type exitCode struct{}

func (exitCode) Holds(_ *gate.Call, value []byte, _ string, _ int) bool { return string(value) == "0" }

// For a server that never sets isError, a condition decides which results of its tool are
// successes.
func ExamplePolicy_Judged() {
	zero := gate.Condition{Tool: "run", Source: "result == 0", Judge: exitCode{}}
	p, err := gate.NewPolicy(nil, gate.PolicyOptions{Labels: []*gate.Labels{{Successes: []gate.Condition{zero}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.JudgesResults(), len(p.Successes()))
	end, broken := p.Judged(&gate.Call{Tool: "run"}, gate.End{Outcome: gate.Success, Result: []byte("3")})
	fmt.Println(end.Outcome, "for", broken.Source)
	// Output:
	// true 1
	// failure for result == 0
}
