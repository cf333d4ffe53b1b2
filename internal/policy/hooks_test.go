package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
)

// script plays lines in a session with the given nets. A line "tool args" is a call that must be
// admitted and succeeds; with "!", it fails, and with "...", it stays in flight. "-> sentence"
// after the call means that the call must be refused with this text. "?" before the call means that
// its approval is granted.
func script(t *testing.T, nets string, lines ...string) *gate.Session {
	t.Helper()
	r, err := Build(Source{Nets: parseNets(t, nets)})
	if err != nil {
		t.Fatal(err)
	}
	s := gate.NewSession(r.Policy, gate.SessionOptions{})
	for _, line := range lines {
		call, sentence, refused := strings.Cut(line, " -> ")
		consent := strings.HasPrefix(call, "?")
		tool, args, _ := strings.Cut(strings.TrimPrefix(call, "?"), " ")
		outcome := gate.Success
		switch {
		case strings.HasSuffix(args, "!"):
			outcome, args = gate.Failure, strings.TrimSuffix(args, "!")
		case strings.HasSuffix(args, "..."):
			outcome, args = gate.Unknown, strings.TrimSuffix(args, "...")
		}
		c := gate.Call{Tool: tool, Args: []byte(strings.TrimSpace(args))}
		d := s.Decide(c, nil)
		if ask, ok := d.(*gate.Ask); ok && consent {
			d = s.Decide(c, ask.Grant())
		}
		switch d := d.(type) {
		case *gate.Allow:
			if refused {
				t.Errorf("%s: admitted", line)
			}
			s.Settle(d.Ticket.Number, outcome)
		case *gate.Refusal:
			if !refused || !strings.Contains(d.Text, sentence) {
				t.Errorf("%s: refused: %s", line, d.Text)
			}
		case *gate.Ask:
			if !refused || sentence != "ask" {
				t.Errorf("%s: a question", line)
			}
			s.Withdraw(d)
		}
	}
	return s
}

const writeGuard = `
name: write-guard
places: [ready]
initialMarking: { ready: 1 }
transitions:
  - { name: write, inputs: [ready], outputs: [ready], tools: [write-file, edit-file] }
validate:
  - tools: [write-file, edit-file]
    require: within(args.path, "/workspace")
    reason: writes restricted to /workspace, got {args.path}
`

func TestWriteGuard(t *testing.T) {
	script(t, writeGuard,
		`write-file {"path":"/workspace/a.txt"}`,
		`edit-file {"path":"/workspace/b/../a.txt"}`,
		`write-file {"path":"/workspace/../etc/passwd"} -> writes restricted to /workspace, got /workspace/../etc/passwd`,
		`write-file {"path":"/etc/passwd"} -> writes restricted`,
		`write-file {"path":["/workspace/a"]} -> writes restricted to /workspace, got ["/workspace/a"]`,
		`write-file {} -> writes restricted to /workspace, got ?`,
		`write-file {"path":"/workspace/`+strings.Repeat("x", 2<<20)+`"} -> The call cannot be judged: the arguments are too large for an expression`,
		`write-file {"path":"/workspace/a","content":"`+strings.Repeat("x", 5<<20)+`"}`,
		`read-file {"path":"/etc/passwd"}`,
	)
}

// TestRememberResult remembers a value from a result and makes a later call depend on it.
func TestRememberResult(t *testing.T) {
	r, err := Build(Source{Nets: parseNets(t, `
name: transfers
places: [ready]
initialMarking: { ready: 1 }
transitions:
  - { name: look, inputs: [ready], outputs: [ready], tools: [get_balance], deferred: true }
  - { name: transfer, inputs: [ready], outputs: [ready], tools: [transfer] }
validate:
  - { tools: [transfer], require: args.amount <= meta.balance, reason: look at the balance first }
remember:
  - { transition: look, set: balance, to: result.account.balance }
`)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		result  string
		refused string // text of the second call's refusal; empty if the call is allowed
	}{
		"enough":     {`{"account":{"balance":100}}`, ""},
		"too little": {`{"account":{"balance":9}}`, "look at the balance first"},
		"absent":     {"", "could not remember: balance"},
		"another":    {`{"balance":100}`, "could not remember: balance"},
		"two":        {`{"account":{"balance":100,"balance":1}}`, "could not remember: balance"},
	} {
		s := gate.NewSession(r.Policy, gate.SessionOptions{})
		first := s.Decide(gate.Call{Tool: "transfer", Args: []byte(`{"amount":10}`)}, nil)
		if _, ok := first.(*gate.Refusal); !ok {
			t.Errorf("%s: a transfer passes before anybody has looked", name)
		}
		look := s.Decide(gate.Call{Tool: "get_balance"}, nil).(*gate.Allow)
		s.End(look.Ticket.Number, gate.End{Outcome: gate.Success, Result: []byte(c.result)})
		d := s.Decide(gate.Call{Tool: "transfer", Args: []byte(`{"amount":10}`)}, nil)
		refusal, refused := d.(*gate.Refusal)
		if refused != (c.refused != "") || refused && !strings.Contains(refusal.Text, c.refused) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

const smartBackup = `
name: smart-backup
places: [ready]
initialMarking: { ready: 1 }
map:
  - { tool: bash, field: command, runs: rm, as: rm }
transitions:
  - { name: backup, inputs: [ready], outputs: [ready], tools: [backup], deferred: true }
  - { name: delete, inputs: [ready], outputs: [ready], tools: [delete, rm] }
validate:
  - tools: [delete]
    require: clean(args.path) in meta.?saved.orValue([])
    reason: back {args.path} up first
  - { tools: [rm], require: "false", reason: use delete }
remember:
  - { transition: backup, set: saved, to: 'meta.?saved.orValue([]).filter(p, p != clean(args.path)) + [clean(args.path)]' }
`

func TestSmartBackup(t *testing.T) {
	s := script(t, smartBackup,
		`delete {"path":"/a"} -> back /a up first`,
		`backup {"path":"/a"}!`,
		`delete {"path":"/a"} -> back /a up first`,
		`backup {"path":"/a"}`,
		`backup {"path":"/b/./c"}`,
		`backup {"path":"/a"}`,
		`backup {} -> The success of the call could not be remembered as "saved": no such key: path.`,
		`backup {"path":7} -> could not be remembered`,
		`delete {"path":"/b"} -> back /b up first`,
		`delete {"path":"/x/../a"}`,
		`delete {"path":"/b/c"}`,
		`bash {"command":"ls; rm -rf /a"} -> use delete`,
		`bash {"command":"ls"}`,
		`backup {"path":"/d"}...`,
		`delete {"path":"/a"} -> is not available`,
	)
	if diff := cmp.Diff(gate.Meta{"saved": []any{"/b/c", "/a"}}, s.Nets()[0].Meta); diff != "" {
		t.Error(diff)
	}
}

// TestValidatorChecksAllNames checks that a validator considers every name of a call, even if a
// single transition gates several names and was chosen for the first.
func TestValidatorChecksAllNames(t *testing.T) {
	script(t, `
name: n
places: [p]
initialMarking: { p: 1 }
map:
  - { tool: bash, field: command, word: rm, as: delete }
  - { tool: charge, when: args.amount > 100, as: big }
transitions:
  - { name: any, inputs: [p], outputs: [p], tools: [bash, delete, charge, big] }
validate:
  - { tools: [delete], require: '!args.command.contains("-rf") && tool == "delete"' }
  - { tools: [big], require: has(args.approvedBy), reason: 'who says so? ({tool}, {marking.p})' }
`,
		`bash {"command":"ls -rf"}`,
		`bash {"command":"rm x"}`,
		`bash {"command":"rm -rf x"} -> The call violates`,
		`charge {"amount":100}`,
		`charge {"amount":101} -> who says so? (big, 1)`,
		`charge {"amount":"x"} -> who says so?`, // the amount cannot be compared, so it may be large
		`charge {"amount":101,"approvedBy":"me"}`,
	)
}

// TestForgottenMemoryRefuses checks that, after something could not be remembered, everything that
// depends on memory is refused.
func TestForgottenMemoryRefuses(t *testing.T) {
	s := script(t, `
name: n
places: [p]
initialMarking: { p: 1 }
transitions:
  - { name: saw, inputs: [p], outputs: [p], tools: [read], deferred: true, observe: true }
  - { name: write, inputs: [p], outputs: [p], tools: [write, touch] }
validate:
  - { tools: [write], require: 'args.path in meta.?seen.orValue([])' }
  - { tools: [touch], require: args.path != "" }
remember:
  - { transition: saw, set: seen, to: 'meta.?seen.orValue([]) + [args.path]' }
  - { transition: saw, set: last, to: args.path }
`,
		`read {"path":"/a"}`,
		`write {"path":"/a"}`,
		`read {}`, // an observer refuses nothing
		`write {"path":"/a"} -> The call depends on a value that the net could not remember: `,
		`touch {"path":"/a"}`,
	)
	if meta := s.Nets()[0].Meta; meta["last"] != "/a" || meta[forgotten] == nil {
		t.Errorf("meta %v", meta)
	}
}

const docsPipeline = `
name: deployment-pipeline
scope: principal
places: [idle, building, tested, staged, canary]
initialMarking: { idle: 1 }
map:
  - { tool: exec, field: command, runs: deploy build, as: deploy-build }
  - { tool: exec, field: command, runs: deploy test, as: deploy-test }
  - { tool: exec, field: command, runs: deploy stage, as: deploy-stage }
  - { tool: exec, field: command, runs: deploy canary, as: deploy-canary }
  - { tool: exec, field: command, pattern: '\bdeploy\s+rollback\b', as: deploy-rollback }
  - { tool: exec, field: command, runs: deploy production, as: deploy-production }
transitions:
  - { name: build, inputs: [idle], outputs: [building], tools: [deploy-build], deferred: true }
  - { name: test, inputs: [building], outputs: [tested], tools: [deploy-test], deferred: true }
  - { name: stage, inputs: [tested], outputs: [staged], tools: [deploy-stage], deferred: true }
  - { name: canary, type: manual, inputs: [staged], outputs: [canary], tools: [deploy-canary], deferred: true }
  - { name: rollback-canary, inputs: [canary], outputs: [idle], tools: [deploy-rollback], deferred: true }
  - { name: production, type: manual, inputs: [canary], outputs: [idle], tools: [deploy-production], deferred: true }
prove: [ deadlock-free, conserved, no-terminal-states ]
`

func TestDocumentedPipeline(t *testing.T) {
	script(t, docsPipeline,
		`exec {"command":"ls"}`,
		`exec {"command":"deploy test"} -> is not available`,
		`exec {"command":"deploy build"}!`,
		`exec {"command":"deploy build --help"} -> The success of this would not show deploy-build: with --help it does something else, or less in`,
		`exec {"command":"deploy build || true"} -> The success of this would not show deploy-build`,
		`exec {"command":"deploy build | tee log"} -> The success of this would not show deploy-build`,
		`exec {"command":"$X"} -> Cannot tell whether this is deploy-build`,
		`exec {"command":["deploy build"]} -> Cannot tell whether this is deploy-build`,
		`exec {"command":"cd app; deploy build --fast"}`,
		`exec {"command":"deploy build"} -> is not available`,
		`exec {"command":"deploy test"}`,
		`exec {"command":"deploy stage"}`,
		`exec {"command":"deploy canary"} -> ask`,
		`?exec {"command":"deploy canary"}`,
		`exec {"command":"deploy rollback"}`,
		`exec {"command":"deploy build"}...`,
		`exec {"command":"deploy build"} -> is not available`,
	)
}

// TestMisleadingNetsDoNotLoad checks that nets that other gates accept but that would not behave as
// written are rejected, with positions and suggestions.
func TestMisleadingNetsDoNotLoad(t *testing.T) {
	head := "name: n\nplaces: [idle, done]\ninitialMarking: { idle: 1 }\n"
	tests := []struct{ name, net, want string }{
		{"a missing input place", head + "transitions:\n  - { name: t, inputs: [idel], outputs: [done], tools: [x] }",
			`n.yaml:5:25: unknown place "idel" (did you mean "idle"?)`},
		{"a missing output place", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [don], tools: [x] }",
			`n.yaml:5:42: unknown place "don" (did you mean "done"?)`},
		{"tokens in an unknown place", "name: n\nplaces: [idle]\ninitialMarking: { idle: 1, lock: 1 }\ntransitions: []",
			`n.yaml:3:28: unknown place "lock"`},
		{"negative tokens", "name: n\nplaces: [idle]\ninitialMarking: { idle: -1 }",
			`n.yaml:3:25: the tokens of "idle" must be a whole number from 0 to 2147483647`},
		{"half a token", "name: n\nplaces: [idle]\ninitialMarking: { idle: 0.5 }",
			`n.yaml:3:25: the tokens of "idle" must be a whole number from 0 to 2147483647`},
		{"a terminal place that is not there", head + "terminalPlaces: [end]",
			`n.yaml:4:18: unknown place "end"`},
		{"manual without tools", head + "transitions:\n  - { name: t, type: manual, inputs: [idle], outputs: [done] }",
			`n.yaml:5:5: net "n": transition "t": the transition is manual and has no tools (a transition without tools fires by itself)`},
		{"deferred without tools", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [done], deferred: true }",
			`n.yaml:5:5: net "n": transition "t": the transition is deferred and has no tools (a transition without tools fires by itself)`},
		{"a structural loop that makes tokens", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [idle, done] }",
			`n.yaml:1:1: net "n": the transitions without tools still fire after 10000 rounds (give one of them a tool)`},
		{"a transition that makes tokens", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [idle, done], tools: [x] }",
			`n.yaml:1:1: net "n": the net is unbounded: repeating t adds tokens to done forever (add an input place that limits it, or set allowUnbounded)`},
		{"two transitions of a name", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [done], tools: [x] }\n  - { name: t, inputs: [done], outputs: [idle], tools: [y] }",
			`n.yaml:6:13: duplicate transition "t" (the first is at 5:5)`},
		{"two places of a name", "name: n\nplaces: [idle, idle]", `n.yaml:1:1: net "n": the place "idle" is named twice`},
		{"an unknown type", head + "transitions:\n  - { name: t, type: manuel, inputs: [idle], outputs: [done], tools: [x] }",
			`n.yaml:5:22: "type": unknown value "manuel" (did you mean "manual"?)`},
		{"an unknown key", head + "transitions:\n  - { name: t, input: [idle], outputs: [done], tools: [x] }",
			`n.yaml:5:16: unknown key "input" in a transition (did you mean "inputs"?)`},
		{"a validator of nothing", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [done], tools: [write] }\nvalidate:\n  - { tools: [wirte], require: 'true' }",
			`n.yaml:7:15: no transition of the net has the tool "wirte" (did you mean "write"?)`},
		{"a validator that does not compile", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [done], tools: [write] }\nvalidate:\n  - tools: [write]\n    require: |\n      args.path != '' &&\n        arg.path.startsWith('/w')",
			`n.yaml:10:9: net "n": undeclared reference to 'arg' (did you mean 'args'?)`},
		{"a reason that does not compile", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [done], tools: [write] }\nvalidate:\n  - { tools: [write], require: 'true', reason: 'got {args.path' }",
			`n.yaml:7:53: net "n": "{" without "}" (write "{{" for the character itself)`},
		{"an unknown place in an expression", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [done], tools: [write] }\nvalidate:\n  - { tools: [write], require: 'marking.doen == 0' }",
			`n.yaml:7:41: net "n": unknown place "doen" (did you mean "done"?)`},
		{"a memory that nothing keeps", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [done], tools: [write], deferred: true }\nvalidate:\n  - { tools: [write], require: 'meta.?saved.hasValue()' }\nremember:\n  - { transition: t, set: save, to: '1' }",
			`n.yaml:7:39: net "n": no transition remembers "saved" (did you mean "save"?)`},
		{"a memory of an unknown transition", head + "transitions:\n  - { name: write, inputs: [idle], outputs: [done], tools: [write], deferred: true }\nremember:\n  - { transition: wrte, set: save, to: '1' }",
			`n.yaml:7:19: unknown transition "wrte" (did you mean "write"?)`},
		{"a memory of the wrong type", head + "transitions:\n  - { name: t, inputs: [idle], outputs: [done], tools: [write], deferred: true }\nremember:\n  - { transition: t, set: n, to: '1 + \"x\"' }",
			`n.yaml:7:37: net "n": found no matching overload for '_+_' applied to '(int, string)'`},
		{"a map by an expression", head + "map:\n  - { tool: t, when: args.amount, as: x }\n  - { tool: t, when: 'amount > 5', as: y }",
			`n.yaml:6:23: net "n": undeclared reference to 'amount'`},
		{"a map by a path", head + "map:\n  - { tool: t, field: f, runs: /bin/rm, as: x }",
			`n.yaml:5:32: net "n": "/bin/rm" is a path; write the name of the command alone, here "rm"`},
		{"an exemption by a word", head + "map:\n  - { tool: bash, field: command, word: ls, as: list }\ntransitions:\n  - { name: t, inputs: [idle], outputs: [done], tools: [bash], unless: [list] }",
			`n.yaml:7:73: net "n": the transition "t" exempts "list", but no call certainly has this name (map it with runs or when)`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got string
			nets, err := config.ParseNet("n.yaml", []byte(test.net))
			if err == nil {
				_, err = Build(Source{Nets: nets})
			}
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestTwoNetsOfAName(t *testing.T) {
	_, err := Build(Source{Nets: append(parseNets(t, writeGuard), parseNets(t, writeGuard)...)})
	if err == nil || err.Error() != `n.yaml:2:1: net "write-guard": another net already has this name` {
		t.Error(err)
	}
}

// TestExpressionErrorShowsLine checks that an error in an expression shows the line of the file.
func TestExpressionErrorShowsLine(t *testing.T) {
	r, _ := Build(Source{Nets: parseNets(t, strings.Replace(writeGuard, "args.path, ", "arg.path, ", 1))})
	want := "        require: within(arg.path, \"/workspace\")\n                        ^"
	if len(r.Problems) != 1 || r.Problems[0].Excerpt != want || r.Problems[0].Code != BadExpression {
		t.Errorf("%+v", r.Problems)
	}
}

// TestIdentityOfHooks checks that changing an expression changes the net's identity.
func TestIdentityOfHooks(t *testing.T) {
	print := func(src string) string {
		r, err := Build(Source{Nets: parseNets(t, src)})
		if err != nil {
			t.Fatal(err)
		}
		return r.Policy.Nets()[0].Fingerprint
	}
	seen := map[string]string{}
	for _, src := range []string{
		writeGuard, strings.Replace(writeGuard, "/workspace\"", "/work\"", 1),
		smartBackup, strings.Replace(smartBackup, "p != clean", "p == clean", 1), strings.Replace(smartBackup, "runs: rm", "runs: rmdir", 1),
	} {
		p := print(src)
		if earlier := seen[p]; earlier != "" {
			t.Errorf("one fingerprint of two nets:\n%s%s", earlier, src)
		}
		seen[p] = src
	}
	if print(writeGuard) != print("# a comment\n"+writeGuard) {
		t.Error("a comment is part of the fingerprint")
	}
}

func TestNetAttributes(t *testing.T) {
	r, err := Build(Source{Mode: "shadow", Nets: parseNets(t, `
name: n
scope: global
shadow: true
priority: 3
class: advisory
places: [p]
initialMarking: { p: 1 }
recovery: { p: 1 }
map: [ { tool: bash, field: command, runs: ls, as: list } ]
transitions:
  - { name: t, type: manual, via: cli, unless: [list], inputs: [p], outputs: [p], tools: [bash] }
`)})
	if err != nil {
		t.Fatal(err)
	}
	n := r.Policy.Nets()[0]
	if n.Scope != gate.ScopeGlobal || !n.Shadow || n.Priority != 3 || !n.Advisory || n.Recovery["p"] != 1 {
		t.Errorf("%+v", n)
	}
	if tr := n.Transitions[0]; tr.Via != "cli" || len(tr.Unless) != 1 || tr.Unless[0].Name != "list" {
		t.Errorf("%+v", tr)
	}
}

func TestTwoWindows(t *testing.T) {
	const transitions = "\nplaces: [a, b]\ninitialMarking: { a: 1 }\ntransitions:\n  - { name: t, inputs: [a], outputs: [b], tools: [x]"
	for src, want := range map[string]string{
		"name: n" + transitions + ", deferred: true }":                                   "while \"t\" is in flight",
		"name: n" + transitions + ", deferred: true, observe: true }":                    "",
		"name: n" + transitions + " }":                                                   "",
		"name: n\nscope: session" + transitions + ", deferred: true }":                   "",
		"name: n\nscope: principal" + transitions + ", deferred: true }":                 "",
		"name: n" + transitions + " }\nprove: ['exclusive a, b']":                        "\"exclusive\" holds only within one session",
		"name: n\nscope: global" + transitions + " }\nprove: ['exclusive a, b']":         "",
		"name: n" + strings.Replace(transitions, "[b]", "[a]", 1) + ", deferred: true }": "",
	} {
		r, err := Build(Source{Nets: parseNets(t, src)})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, p := range r.Problems {
			if p.Code == TwoWindows {
				got = p.Msg
			}
		}
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%q, want %q", src, got, want)
		}
	}
}
