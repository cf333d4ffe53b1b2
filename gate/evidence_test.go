package gate_test

import (
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// evidenceNet is "require first before then", with the tools and key fields of both lists.
func evidenceNet(first, then []string, earns, waits []gate.Field) gate.Net {
	return gate.Net{
		Name: "n", Places: []string{"ready", "gate"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "first", Inputs: []string{"ready"}, Outputs: []string{"gate"}, Tools: gate.Tools(first...), Observe: true, Deferred: true, Evidence: true, Key: earns},
			{Name: "then", Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools(then...), Key: waits},
		},
	}
}

// TestEvidence checks that a call listed both as evidence and as gated passes only because of an
// earlier success, and that its own success counts for later calls.
func TestEvidence(t *testing.T) {
	path := func(p string) []gate.Field { return []gate.Field{{Path: p}} }
	links := []gate.Field{{Path: "$.links[*]", Result: true}}
	deferred := evidenceNet([]string{"search", "open"}, []string{"open"}, nil, nil)
	deferred.Transitions[1].Deferred, deferred.Transitions[1].Outputs = true, []string{"ready"}
	two := evidenceNet([]string{"search", "run"}, []string{"open"}, nil, nil)
	two.Maps = []gate.Map{{Tool: "open", Field: "f", Match: func(s string) bool { return s == "run" }, As: "run"}}
	free := two
	free.Free = []string{"run"}
	spoiled := evidenceNet([]string{"search", "open"}, []string{"open"}, nil, nil)
	spoiled.Transitions = append(spoiled.Transitions, gate.Transition{Name: "spoil", Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools("open"), Observe: true, Spoils: true})
	unmarked := evidenceNet([]string{"search", "open"}, []string{"open"}, nil, nil)
	unmarked.Transitions[0].Evidence = false
	for _, test := range []struct {
		name  string
		net   gate.Net
		calls []string // tool, arguments, and the result of a success, or "!"
		want  string
	}{
		{"itself", evidenceNet([]string{"create"}, []string{"create"}, nil, nil), []string{"create", "{}", "", "create", "{}", ""}, "no no"},
		{"for later calls", evidenceNet([]string{"search", "open"}, []string{"open"}, nil, nil),
			[]string{"open", "{}", "", "search", "{}", "", "open", "{}", "", "open", "{}", "!", "open", "{}", ""}, "no ok ok ok no"},
		{"what gates it is deferred", deferred, []string{"open", "{}", "", "search", "{}", "", "open", "{}", "", "open", "{}", ""}, "no ok ok no"},
		{"by two names", two, []string{"search", "{}", "", "open", `{"f":"run"}`, "", "open", "{}", "", "open", "{}", ""}, "ok ok ok no"},
		{"a free name", free, []string{"search", "{}", "", "open", `{"f":"run"}`, "", "open", "{}", ""}, "ok ok no"},
		{"a weak name", two, []string{"search", "{}", "", "open", `{"f":["run"]}`, "", "open", "{}", ""}, "ok ok no"},
		{"it spoils itself", spoiled, []string{"search", "{}", "", "open", "{}", "", "open", "{}", ""}, "ok ok no"},
		{"an observer that is no evidence", unmarked, []string{"open", "{}", "", "open", "{}", "", "open", "{}", ""}, "ok ok ok"},
		{"of the same value", evidenceNet([]string{"create"}, []string{"create"}, path("id"), path("parent")),
			[]string{"create", `{"id":"x","parent":"x"}`, "", "create", `{"id":"x"}`, ""}, "no no"},
		{"of another value", evidenceNet([]string{"search", "open"}, []string{"open"}, path("id"), path("parent")),
			[]string{"search", `{"id":"a"}`, "", "open", `{"id":"b","parent":"a"}`, "", "open", `{"id":"b","parent":"a"}`, "", "open", `{"id":"b","parent":"b"}`, "", "open", `{"id":"c","parent":"b"}`, ""}, "ok ok no ok ok"},
		{"shown by results", evidenceNet([]string{"search", "get"}, []string{"get"}, links, path("url")),
			[]string{"get", `{"url":"a"}`, `{"links":["a"]}`, "search", `{}`, `{"links":["a"]}`, "get", `{"url":"a"}`, `{"links":["b"]}`, "get", `{"url":"a"}`, "", "get", `{"url":"b"}`, ""}, "no ok ok no ok"},
		{"shown by itself", evidenceNet([]string{"search", "get"}, []string{"get"}, links, path("url")),
			[]string{"search", `{}`, `{"links":["a"]}`, "get", `{"url":"a"}`, `{"links":["a"]}`, "get", `{"url":"a"}`, "", "get", `{"url":"a"}`, ""}, "ok ok ok no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := gate.NewPolicy([]gate.Net{test.net}, gate.PolicyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s, got := gate.NewSession(p, gate.SessionOptions{}), ""
			for i := 0; i < len(test.calls); i += 3 {
				allow, ok := s.Decide(gate.Call{Tool: test.calls[i], Args: []byte(test.calls[i+1])}, nil).(*gate.Allow)
				got += map[bool]string{true: " ok", false: " no"}[ok]
				if !ok {
					continue
				}
				e := gate.End{Outcome: gate.Success, Result: []byte(test.calls[i+2])}
				if test.calls[i+2] == "!" {
					e = gate.End{Outcome: gate.Failure}
				}
				allow.Ticket.End(e)
			}
			if want := " " + test.want; got != want {
				t.Errorf("%q are answered%s, want%s", test.calls, got, want)
			}
		})
	}
}

// TestShownBeside checks that a call's result does not count while the call is in flight, and that
// a link that already has unused evidence does not get it twice.
func TestShownBeside(t *testing.T) {
	p, err := gate.NewPolicy([]gate.Net{evidenceNet([]string{"search", "get"}, []string{"get"},
		[]gate.Field{{Path: "$.links[*]", Result: true}}, []gate.Field{{Path: "url"}})}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := gate.NewSession(p, gate.SessionOptions{})
	begin := func(tool, url string) *gate.Ticket {
		t.Helper()
		allow, ok := s.Decide(gate.Call{Tool: tool, Args: []byte(fmt.Sprintf(`{"url":%q}`, url))}, nil).(*gate.Allow)
		if !ok {
			return nil
		}
		return allow.Ticket
	}
	show := func(ticket *gate.Ticket, links string) {
		ticket.End(gate.End{Outcome: gate.Success, Result: []byte(`{"links":[` + links + `]}`)})
	}
	show(begin("search", ""), `"a"`)
	late := begin("search", "")
	page := begin("get", "a")
	if begin("get", "a") != nil {
		t.Error("a call in flight is evidence for another one")
	}
	show(late, `"a"`) // a had unused evidence in the meantime
	if begin("get", "a") != nil {
		t.Error("a search that ran beside unused evidence counts")
	}
	show(page, `"a"`)
	if begin("get", "a") == nil {
		t.Error("what an earlier page showed does not count")
	}
}

// TestApprovedCallLiftsItsRestriction checks that an approved call lifts a restriction with its
// success.
func TestApprovedCallLiftsItsRestriction(t *testing.T) {
	p, err := gate.NewPolicy([]gate.Net{{
		Name: "n", Places: []string{"clean", "tainted"}, Initial: map[string]int{"clean": 1},
		Transitions: []gate.Transition{
			{Name: "taint", Inputs: []string{"clean"}, Outputs: []string{"tainted"}, Tools: gate.Tools("fetch"), Observe: true, Spoils: true},
			{Name: "clear", Inputs: []string{"tainted"}, Outputs: []string{"clean"}, Tools: gate.Tools("review"), Observe: true, Deferred: true, Evidence: true},
			{Name: "do", Inputs: []string{"clean"}, Outputs: []string{"clean"}, Tools: gate.Tools("review")},
			{Name: "approve", Inputs: []string{"tainted"}, Outputs: []string{"tainted"}, Tools: gate.Tools("review"), Manual: true},
		},
	}}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := gate.NewSession(p, gate.SessionOptions{})
	review := func() (*gate.Ticket, bool) {
		t.Helper()
		c := gate.Call{Tool: "review"}
		d := s.Decide(c, nil)
		ask, asked := d.(*gate.Ask)
		if asked {
			d = s.Decide(c, ask.Grant())
		}
		allow, ok := d.(*gate.Allow)
		if !ok {
			t.Fatalf("%+v", d)
		}
		return allow.Ticket, asked
	}
	s.Decide(gate.Call{Tool: "fetch"}, nil).(*gate.Allow).Ticket.Settle(gate.Success)
	for i, test := range []struct {
		outcome gate.Outcome
		asked   bool
	}{{gate.Failure, true}, {gate.Success, true}, {gate.Success, false}} {
		ticket, asked := review()
		if asked != test.asked {
			t.Errorf("review %d: a person is asked: %v", i, asked)
		}
		ticket.Settle(test.outcome)
	}
}
