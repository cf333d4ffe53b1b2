package rules_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/rules"
)

func compile(t testing.TB, src string) *rules.Compiled {
	t.Helper()
	f, _ := rules.Parse("t.rules", []byte(src))
	c, err := rules.Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// netText formats a net in the notation of docs/rules.md.
func netText(n gate.Net) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", n.Name)
	for _, p := range n.Places {
		fmt.Fprintf(&b, " %s(%d)", p, n.Initial[p])
	}
	for _, t := range n.Transitions {
		fmt.Fprintf(&b, "; %s %s->%s", t.Name, strings.Join(t.Inputs, "+"), strings.Join(t.Outputs, "+"))
		for _, tool := range t.Tools {
			fmt.Fprintf(&b, " %s", tool.Name)
			b.WriteString([]string{"", " literal", " glob"}[tool.Kind])
			if tool.Except != "" {
				fmt.Fprintf(&b, " except %s", tool.Except)
			}
		}
		for _, a := range []struct {
			set  bool
			name string
		}{{t.Manual, "manual"}, {t.Deferred, "deferred"}, {t.Observe, "observe"}, {t.Via != "", "via " + t.Via},
			{t.Approvals > 0, fmt.Sprintf("by %d", t.Approvals)}, {t.Spoils, "spoils"}, {len(t.Key) > 0, "key " + sources(t.Key)}, {t.Every > 0, "every " + t.Every.String()}} {
			if a.set {
				b.WriteString(" " + a.name)
			}
		}
		for _, tool := range t.Unless {
			fmt.Fprintf(&b, " unless %s%s", tool.Name, []string{"", " literal", " glob"}[tool.Kind])
		}
	}
	if n.Row {
		b.WriteString("; row")
	}
	if n.Sum != nil {
		fmt.Fprintf(&b, "; sum of %s at most %d every %s", n.Sum.Field.Source, n.Sum.Most, n.Sum.Every)
	}
	if n.Scope == gate.ScopePrincipal {
		b.WriteString("; of the principal")
	}
	if n.Shadow {
		b.WriteString("; in shadow")
	}
	return b.String()
}

// sources formats the fields of a gate key.
func sources(key []gate.Field) string {
	var all []string
	for _, f := range key {
		how := f.Path
		if f.Reader != nil {
			how = fmt.Sprintf("expression %d", f.Number)
		}
		if f.Result {
			how = "result " + how
		}
		all = append(all, fmt.Sprintf("%s (%s)", f.Source, how))
	}
	return strings.Join(all, ", ")
}

func TestExcerptOfAName(t *testing.T) {
	f, errs := rules.Parse("a.rules", []byte("\n  block \"rm\" # x"))
	names := f.Names()
	if len(errs) > 0 || len(names) != 1 || names[0].Excerpt() != "      block \"rm\" # x\n            ^^^^\n" {
		t.Errorf("%v, %q", errs, names[0].Excerpt())
	}
	if got := (rules.Name{Text: "rm"}).Excerpt(); got != "" {
		t.Errorf("a name from nowhere has %q", got)
	}
}

func TestExcerptOfAField(t *testing.T) {
	f, errs := rules.Parse("a.rules", []byte("limit a to 1 of $.b per session\n"))
	limit, ok := f.Statements[0].(*rules.Limit)
	if len(errs) > 0 || !ok || limit.Of.Excerpt() != "    limit a to 1 of $.b per session\n                    ^^^\n" {
		t.Errorf("%v, %q", errs, limit.Of.Excerpt())
	}
}

func TestNets(t *testing.T) {
	const start = "start idle->ready"
	tests := []struct {
		src    string
		want   string
		cause  gate.Cause
		reason string
		states int
	}{
		{"require A before B", "require-A-before-B: idle(1) ready(0) gate(0); " + start + "; do-A ready->gate A deferred observe; do-B gate->ready B",
			gate.CauseSequence, "B requires a successful call to A first.", 3},
		{"require A before A", "require-A-before-A: idle(1) ready(0) gate(0); " + start + "; do-A ready->gate A deferred observe; do-A#2 gate->ready A",
			gate.CauseSequence, "A requires a successful call to A first.", 3},
		{"require A before *", "require-A-before-*: idle(1) ready(0) gate(0); " + start + "; do-A ready->gate A deferred observe; do-* gate->ready * glob except A",
			gate.CauseSequence, "* requires a successful call to A first.", 3},
		{"require a* before *", "require-a*-before-*: idle(1) ready(0) gate(0); " + start + "; do-a* ready->gate a* glob deferred observe; do-* gate->ready * glob",
			gate.CauseSequence, "* requires a successful call to a* first.", 3},
		{`require "a b" before c.d`, `require-"a b"-before-c.d: idle(1) ready(0) gate(0); ` + start + `; do-"a b" ready->gate a b literal deferred observe; do-c.d gate->ready c.d`,
			gate.CauseSequence, `c.d requires a successful call to "a b" first.`, 3},
		{`require "human-approval" before b`, `require-human-approval-before-b: idle(1) ready(0) gate(0); ` + start + `; do-human-approval ready->gate human-approval literal deferred observe; do-b gate->ready b`,
			gate.CauseSequence, `b requires a successful call to "human-approval" first.`, 3},
		{"require human-approval before B", "approve-before-B: idle(1) ready(0); " + start + "; approve ready->ready B manual",
			gate.CauseApproval, "B requires human approval.", 2},
		{"block A", "block-A: idle(1) ready(0) locked(0); " + start + "; do-A locked->locked A",
			gate.CauseBlock, "A is blocked and cannot be called.", 2},
		{"limit A to 3 per session", "limit-A-3: idle(1) ready(0) budget(3); " + start + "; do-A ready+budget->ready A",
			gate.CauseLimit, "A has reached its limit of 3 calls per session.", 5},
		{"limit A to 1 per test", "limit-A-1-per-test: idle(1) ready(0) budget(1) spent(0); " + start + "; do-A ready+budget->ready+spent A; refill ready+spent->ready+budget test observe",
			gate.CauseLimit, "A has reached its limit of 1 call per test.", 3},
		{`limit A to 2147483647 per "session"`, `limit-A-2147483647-per-session: idle(1) ready(0) budget(2147483647) spent(0); ` + start + `; do-A ready+budget->ready+spent A; refill ready+spent->ready+budget session literal observe`,
			gate.CauseLimit, `A has reached its limit of 2147483647 calls per "session".`, 2147483649},
		{"require A before B once", "require-A-before-B-once: idle(1) ready(0) gate(0); " + start + "; do-A ready->gate A deferred observe; do-B gate->gate B",
			gate.CauseSequence, "B requires a successful call to A first.", 3},
		{"require A before B once unless C, d*", "require-A-before-B-once: idle(1) ready(0) gate(0); " + start + "; do-A ready->gate A deferred observe; do-B gate->gate B unless C unless d* glob",
			gate.CauseSequence, "B requires a successful call to A first.", 3},
		{"require human-approval via cli before B unless C", "approve-before-B: idle(1) ready(0); " + start + "; approve ready->ready B manual via cli unless C",
			gate.CauseApproval, "B requires human approval.", 2},
		{`block A unless "B.c"`, "block-A: idle(1) ready(0) locked(0); " + start + "; do-A locked->locked A unless B.c literal",
			gate.CauseBlock, "A is blocked and cannot be called.", 2},
		{"shadow block A", "block-A: idle(1) ready(0) locked(0); " + start + "; do-A locked->locked A; in shadow",
			gate.CauseBlock, "A is blocked and cannot be called.", 2},
		{"limit A to 2 per user unless B", "limit-A-2-per-user: idle(1) ready(0) budget(2); " + start + "; do-A ready+budget->ready A unless B; of the principal",
			gate.CauseLimit, "A has reached its limit of 2 calls per user.", 4},
		{"limit A to 2 per successful C unless B", "limit-A-2-per-successful-C: idle(1) ready(0) budget(2) spent(0); " + start + "; do-A ready+budget->ready+spent A unless B; refill ready+spent->ready+budget C deferred observe",
			gate.CauseLimit, "A has reached its limit of 2 calls per successful C.", 4},
		{"limit A to 4 per minute", "limit-A-4-per-minute: idle(1) ready(0) budget(4) spent(0); " + start + "; do-A ready+budget->ready+spent A; refill ready+spent->ready+budget every 15s",
			gate.CauseLimit, "A has reached its limit of 4 calls per minute.", 6},
		{"limit A to 1 per day", "limit-A-1-per-day: idle(1) ready(0) budget(1) spent(0); " + start + "; do-A ready+budget->ready+spent A; refill ready+spent->ready+budget every 24h0m0s",
			gate.CauseLimit, "A has reached its limit of 1 call per day.", 3},
		{"limit A to 7 per hour", "limit-A-7-per-hour: idle(1) ready(0) budget(7) spent(0); " + start + "; do-A ready+budget->ready+spent A; refill ready+spent->ready+budget every 8m34.285714286s",
			gate.CauseLimit, "A has reached its limit of 7 calls per hour.", 9},
		{"limit A to 2147483647 per second", "limit-A-2147483647-per-second: idle(1) ready(0) budget(2147483647) spent(0); " + start + "; do-A ready+budget->ready+spent A; refill ready+spent->ready+budget every 1ns",
			gate.CauseLimit, "A has reached its limit of 2147483647 calls per second.", 2147483649},
	}
	for _, test := range tests {
		t.Run(test.src, func(t *testing.T) {
			c := compile(t, "\n  "+test.src)
			if len(c.Nets) != 1 {
				t.Fatalf("%d nets", len(c.Nets))
			}
			n := c.Nets[0]
			if diff := cmp.Diff(test.want, netText(n)); diff != "" {
				t.Errorf("net: -want +got:\n%s", diff)
			}
			if n.Cause != test.cause || n.Reason != test.reason || n.Labels != c.Labels {
				t.Errorf("cause %s, reason %q, labels %v", n.Cause, n.Reason, n.Labels)
			}
			if want := (gate.Position{File: "t.rules", Line: 2, Column: 3}); n.Rule != want {
				t.Errorf("rule at %s", n.Rule)
			}
			if v := c.Verification()[0]; v.Name != n.Name || v.States != test.states {
				t.Errorf("verification %+v", v)
			}
		})
	}
}

// TestNetsOfForms compares the nets of statements with several nets, and of statements about more
// than calls.
func TestNetsOfForms(t *testing.T) {
	src, err := txtar.ParseFile("testdata/nets.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(src.Files[0].Data)) {
		fmt.Fprintf(&b, "\n%s", line)
		c := compile(t, line)
		for i, n := range c.Nets {
			v := c.Verification()[i]
			fmt.Fprintf(&b, "  %s\n    %s: %s\n", netText(n), n.Cause, n.Reason)
			if fmt.Fprintf(&b, "    %d states, %d deadlocks %v\n", v.States, v.Deadlocks, v.Dead); v.Name != n.Name || n.Rule.Line != 1 {
				t.Errorf("%s is verified as %s, at %s", n.Name, v.Name, n.Rule)
			}
		}
	}
	if *update {
		src.Files = append(src.Files[:1], txtar.File{Name: "nets", Data: []byte(b.String())})
		if err := os.WriteFile("testdata/nets.txtar", txtar.Format(src), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(src.Files[1].Data), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestVerification compares the known state counts with an exploration.
func TestVerification(t *testing.T) {
	c := compile(t, `require a before b
require a before a
require human-approval before b
block a
limit a to 1 per session
limit a to 7 per session
limit a to 1 per b
limit a to 7 per b
require a before b once
require a before a once
require human-approval via elicit before b
shadow block b unless a
limit a to 7 per successful b
limit a to 7 per user
limit a to 1 per second
limit a to 7 per day
require a, b before c, d* since e, a
require a or b before c once with same f
require 2 human-approvals before a, b
block a after b
block a after b until c, d
require human-approval before a after b
require human-approval before a after b until c
allow a, b
limit a, b to 7 at once
limit a to 7 per user per hour for each f
limit a to 7 per successful b with same f as result.$.g
limit a to 7 in a row
limit a to 7 of f per session
limit a, b to 7 of f per user per day for each g`)
	p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nets := p.Nets()
	for _, v := range c.Verification() {
		i := slices.IndexFunc(nets, func(n gate.NetInfo) bool { return n.Name == v.Name })
		if i < 0 {
			t.Fatalf("the policy has no net %s", v.Name)
		}
		e := nets[i].Explore(0)
		got := rules.Verification{Name: v.Name, States: e.States, Deadlocks: e.Deadlocks, Dead: e.DeadTransitions}
		if len(got.Dead) == 0 {
			got.Dead = nil
		}
		if diff := cmp.Diff(got, v); diff != "" || !e.Complete || e.Bounded != toolnet.Yes {
			t.Errorf("%s: -explored +known:\n%s", v.Name, diff)
		}
	}
}

// TestNetsBringTheirLabels checks that calls have the names given by the maps in a policy of any of
// the compiled nets.
func TestNetsBringTheirLabels(t *testing.T) {
	c := compile(t, "map bash.command rm as delete\nrequire backup before delete\nblock push")
	more := compile(t, "map sh.c rm as delete\nmap sh.c cp as delete")
	written := gate.Net{Name: "written", Places: []string{"p"}, Transitions: []gate.Transition{{Name: "t", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("delete")}}}
	rm := gate.Call{Tool: "bash", Args: []byte(`{"command":"rm -rf build/"}`)}
	sh := gate.Call{Tool: "sh", Args: []byte(`{"c":"cp a b"}`)}
	for _, test := range []struct {
		name    string
		nets    []gate.Net
		o       gate.PolicyOptions
		refused []gate.Call
		names   int // of sh
		maps    int
	}{
		{"all", c.Nets, gate.PolicyOptions{}, []gate.Call{rm}, 1, 1},
		{"one", c.Nets[:1], gate.PolicyOptions{}, []gate.Call{rm}, 1, 1},
		{"one besides others", append([]gate.Net{written}, c.Nets[0]), gate.PolicyOptions{}, []gate.Call{rm}, 1, 1},
		{"of two compilations", append(compile(t, "map sh.c cp as delete\nblock pull").Nets, c.Nets...), gate.PolicyOptions{}, []gate.Call{rm, sh}, 2, 2},
		{"with maps that no net has", c.Nets, gate.PolicyOptions{Labels: []*gate.Labels{more.Labels, c.Labels}}, []gate.Call{rm, sh}, 2, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := gate.NewPolicy(test.nets, test.o)
			if err != nil {
				t.Fatal(err)
			}
			again, err := gate.NewPolicy(test.nets, p.Options())
			if err != nil || len(p.Maps()) != test.maps || again.Fingerprint() != p.Fingerprint() {
				t.Errorf("%d maps, %v, made anew it is another policy: %v", len(p.Maps()), err, again.Fingerprint() != p.Fingerprint())
			}
			if got := p.Names(sh); len(got) != test.names {
				t.Errorf("names of sh: %v", got)
			}
			for _, call := range test.refused {
				if r, ok := gate.NewSession(p, gate.SessionOptions{}).Decide(call, nil).(*gate.Refusal); !ok || !strings.HasSuffix(r.Text, "(delete) requires a successful call to backup first.") {
					t.Errorf("%s is not refused: %v", call.Tool, r)
				}
			}
		})
	}
}

func TestNumberedNames(t *testing.T) {
	c := compile(t, "require a-before-b before c\nrequire a before b-before-c\nrequire a before b-before-c")
	if len(c.Nets) != 2 || c.Nets[0].Name != "require-a-before-b-before-c" || c.Nets[1].Name != "require-a-before-b-before-c#2" {
		t.Errorf("nets: %v", c.Verification())
	}
}

func TestMaps(t *testing.T) {
	c := compile(t, "map bash.command rm as delete\nmap \"my.tool\".a.b /^x y#\\/$/i as \"z z\"\nblock delete\nblock \"z z\"")
	if len(c.Labels.Maps) != 2 {
		t.Fatalf("%d maps", len(c.Labels.Maps))
	}
	word, regex := c.Labels.Maps[0], c.Labels.Maps[1]
	if word.Tool != "bash" || word.Field != "command" || word.As != "delete" || word.Source != "rm" || word.Rule.Line != 1 {
		t.Errorf("word: %+v", word)
	}
	if regex.Tool != "my.tool" || regex.Field != "a.b" || regex.As != "z z" || regex.Source != `/^x y#\/$/i` {
		t.Errorf("regex: %+v", regex)
	}
	if !word.Match("a; rm b") || word.Match("farm") || !regex.Match("X y#/") || regex.Match("x y#/z") {
		t.Error("the patterns match something else")
	}
}

// TestReaders checks the names that the gate gives to calls through maps with a reader.
func TestReaders(t *testing.T) {
	c := compile(t, `map bash.command runs rm as delete
map bash.command runs ls as safe
map bash.command runs cat as safe
map charge when "args.amount > 50000" as big
map http.$.request.method DELETE as gone
map many.$.files[*].path runs rm as delete
block delete
block bash unless safe
block big
block gone
example bash.command "sudo rm -rf x" as delete
example bash.command "echo rm" not as delete
example charge {"amount": 60000} as big
example charge {"amount": 60} not as big
example charge {} as big # nobody knows
example http {"request": {"method": "DELETE"}} as gone
example many {"files": [{"path": "echo"}, {"path": "rm x"}]} as delete`)
	p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{})
	if err != nil || len(c.Warnings) > 0 {
		t.Fatal(err, c.Warnings)
	}
	tests := []struct{ tool, args, want string }{
		{"bash", `{"command": "ls; rm x"}`, "block-delete block-bash"},
		{"bash", `{"command": "ls; cat x"}`, ""},
		{"bash", `{"command": "ls; $X"}`, "block-delete block-bash"},
		{"bash", `{"command": "echo rm"}`, "block-bash"},
		{"charge", `{"amount": 50001}`, "block-big"},
		{"charge", `{"amount": 50000}`, ""},
		{"charge", `{}`, "block-big"},
		{"http", `{"request": {"method": "DELETE /"}}`, "block-gone"},
		{"http", `{"request": "DELETE"}`, "block-gone"},
		{"http", `{"request": {"body": "DELETE"}}`, ""},
	}
	for _, test := range tests {
		s := gate.NewSession(p, gate.SessionOptions{})
		var nets []string
		if r, ok := s.Decide(gate.Call{Tool: test.tool, Args: []byte(test.args)}, nil).(*gate.Refusal); ok {
			for _, n := range r.Blocks {
				nets = append(nets, n.Net)
			}
		}
		if got := strings.Join(nets, " "); got != test.want {
			t.Errorf("%s %s is refused by %q, want %q", test.tool, test.args, got, test.want)
		}
	}
}

func TestClaims(t *testing.T) {
	c := compile(t, "map bash.command rm as delete\nprove never delete before a\nprove conserved n\nprove never delete before a\nprove exclusive x, y\nrequire a before b\nprove reachable b*")
	var got []string
	for _, claim := range c.Claims {
		got = append(got, fmt.Sprintf("%d %s", claim.Position().Line, claim))
	}
	want := []string{"2 prove never delete before a", "3 prove conserved n", "5 prove exclusive x, y", "7 prove reachable b*"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(c.Nets) != 1 || len(c.Warnings) != 1 || c.Warnings[0].Code != rules.Repeated { // and the label is used
		t.Errorf("%d nets, warnings %v", len(c.Nets), c.Warnings)
	}
	if tool := c.Claims[3].Tools[0].Call(); tool != (gate.Tool{Name: "b*", Kind: gate.Glob}) {
		t.Errorf("the gate reads %+v", tool)
	}
	if names := compile(t, "prove conserved n\nprove never a before b").Claims; names[0].Net.Text != "n" || names[1].Others[0].Text != "b" {
		t.Errorf("claims %v", names)
	}
}

// TestEachClaim checks that a claim about several names is split into a claim for each name or
// pair, except for names that are counted or listed together.
func TestEachClaim(t *testing.T) {
	tests := map[string][]string{
		"never a":                                     {"never a"},
		"never a, b without human-approval":           {"never a without human-approval", "never b without human-approval"},
		"never a, b before c, d once":                 {"never a before c once", "never a before d once", "never b before c once", "never b before d once"},
		"never a after b, c until d, e":               {"never a after b until d, e", "never a after c until d, e"},
		"never a, b while a":                          {"never a while a", "never b while a"},
		"at-most 3 a, b per c, d":                     {"at-most 3 a, b per c", "at-most 3 a, b per d"},
		"at-most 3 a, b per session":                  {"at-most 3 a, b per session"},
		"only a, b without human-approval":            {"only a, b without human-approval"},
		"reachable a, b":                              {"reachable a", "reachable b"},
		"always-possible a, b but for its own budget": {"always-possible a but for its own budget", "always-possible b but for its own budget"},
		"exclusive p, q":                              {"exclusive p, q"},
		"narrower-than a.rules":                       {"narrower-than a.rules"},
	}
	for src, want := range tests {
		var got []string
		for _, c := range compile(t, "prove "+src).Claims[0].Each() {
			got = append(got, strings.TrimPrefix(c.String(), "prove "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", src, diff)
		}
	}
}

func TestParseAt(t *testing.T) {
	place := func(line, column int) gate.Position {
		return gate.Position{File: "c.yaml", Line: line + 10, Column: column + 4}
	}
	f, errs := rules.ParseAt([]byte("block a\nblock\n  block a"), place)
	if len(errs) != 1 || errs[0].Error() != "c.yaml:12:10: the name to block is missing (write: block A)" || errs[0].Excerpt() != "    block\n         ^\n" {
		t.Errorf("errors: %s", errs.Format())
	}
	c, err := rules.Compile(f)
	if err == nil || len(c.Warnings) != 1 {
		t.Fatalf("%v, %v", err, c.Warnings)
	}
	want := `c.yaml:13:7: the statement at c.yaml:11:5 already says "block a"`
	if w := c.Warnings[0]; w.String() != want || w.Excerpt() != "      block a\n      ^^^^^^^\n" {
		t.Errorf("warning: %s\n%s", w, w.Excerpt())
	}
}

func TestLoad(t *testing.T) {
	fsys := fstest.MapFS{
		"a.rules": {Data: []byte("block rm\nmap bash.command rm as rm\n")},
		"b.rules": {Data: []byte("limit mv to 3 per session\nblock rm\n")},
		"c.rules": {Data: []byte("blok rm\n")},
	}
	c, err := rules.Load(fsys, "a.rules", "b.rules")
	if err != nil || len(c.Nets) != 2 || len(c.Labels.Maps) != 1 || len(c.Warnings) != 0 || c.Nets[1].Rule.File != "b.rules" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := rules.Load(fsys, "a.rules", "missing.rules"); err == nil || !strings.HasPrefix(err.Error(), "reading rules: open missing.rules") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := rules.Load(fsys, "a.rules", "c.rules"); err == nil || !strings.HasPrefix(err.Error(), "c.rules:1:1: ") {
		t.Errorf("a file in error: %v", err)
	}
	if c, err := rules.Compile(); err != nil || len(c.Nets) != 0 {
		t.Errorf("nothing: %+v, %v", c, err)
	}
}

func TestNames(t *testing.T) {
	f, errs := rules.Parse("", []byte("require a before b*\nrequire human-approval before \"c d\"\nblock e\nlimit f to 3 per session\nlimit g to 3 per h\nmap i.j k as l\nblock m unless n, o*\nexample i.j \"k\" as l\nallow p, q"))
	if errs != nil {
		t.Fatal(errs)
	}
	var got []string
	for _, n := range f.Names() {
		got = append(got, n.String())
	}
	if diff := cmp.Diff([]string{"a", "b*", `"c d"`, "e", "f", "g", "h", "m", "n", "o*", "p", "q"}, got); diff != "" {
		t.Error(diff)
	}
	if tools := f.Tools(); len(tools) != 1 || tools[0].Text != "i" {
		t.Errorf("tools: %v", tools)
	}
	if diff := cmp.Diff([]string{"l"}, f.Labels()); diff != "" {
		t.Error(diff)
	}
	for i, s := range f.Statements {
		if s.Position().Line != i+1 {
			t.Errorf("%s is at %s", s, s.Position())
		}
	}
}

// sixty is a policy of 60 rules with maps.
func sixty() []byte {
	var b strings.Builder
	for i := range 15 {
		fmt.Fprintf(&b, "require tool%d before other%d\nrequire human-approval before deploy%d\nblock rm%d\nlimit push%d to 3 per test%d\n", i, i, i, i, i, i)
		fmt.Fprintf(&b, "map bash.command /\\bgit\\s+push%d\\b/ as push%d\n", i, i)
	}
	return []byte(b.String())
}

func BenchmarkCompile60(b *testing.B) {
	src := sixty()
	for b.Loop() {
		f, _ := rules.Parse("bench.rules", src)
		if _, err := rules.Compile(f); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNamesOfNets checks that net names contain no quotes around names that are valid without them.
func TestNamesOfNets(t *testing.T) {
	const src = `block "rm"
require "a" before "b"
require human-approval before "c"
limit "d" to 2 per "e"
limit "d" to 2 per successful "e"
block "drop table"
block "a#b"
block "read_*"
block rm
`
	p, err := gate.NewPolicy(compile(t, src).Nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range p.Nets() {
		got = append(got, n.Name)
	}
	want := []string{"block-rm", "require-a-before-b", "approve-before-c", "limit-d-2-per-e", "limit-d-2-per-successful-e", `block-"drop table"`, `block-"a#b"`, "block-read_*", "block-rm#2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := p.Nets()[1]; n.Transitions[1].Name != "do-a" || n.Reason != `"b" requires a successful call to "a" first.` {
		t.Errorf("%+v", n)
	}
}

// TestNarrowedBase checks that a lower limit in a file that narrows a base is accepted, and that a
// higher limit has no effect.
func TestNarrowedBase(t *testing.T) {
	parse := func(src string, base bool) *rules.File {
		f, err := rules.Parse("a.rules", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		f.Base = base
		return f
	}
	for _, c := range []struct {
		first, then string
		base        bool // the first
		warnings    int
	}{
		{"limit post to 10 per session", "limit post to 5 per session", true, 0},
		{"limit post to 10 per session", "limit post to 15 per session", true, 1},
		{"limit post to 10 per session", "limit post to 5 per session", false, 1},
		{"limit post to 10 per session", "limit post to 5 per session\nlimit post to 7 per session", true, 1},
	} {
		compiled, err := rules.Compile(parse(c.first, c.base), parse(c.then, false))
		if err != nil || len(compiled.Warnings) != c.warnings {
			t.Errorf("%s, %s, base %t: %v, %v; want %d warnings", c.first, c.then, c.base, err, compiled.Warnings, c.warnings)
		}
	}
}
