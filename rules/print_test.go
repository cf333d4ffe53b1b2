package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

// sameStatement compares statements without their positions.
var sameStatement = cmp.Options{
	cmpopts.IgnoreTypes(gate.Position{}),
	cmpopts.IgnoreUnexported(rules.Name{}, rules.Field{}, rules.Pattern{}, rules.Example{}, rules.Map{}),
}

func TestPrint(t *testing.T) {
	tests := []struct{ src, want string }{
		{" require\ta before\u00a0b # c", "require a before b"},
		{"require human-approval before b\r", "require human-approval before b"},
		{`block "a\u0062\t\"\\\u0085\/"`, `block "ab\u0009\"\\\u0085/"`},
		{"limit a to 3 per session", "limit a to 3 per session"},
		{`limit a* to 3 per "session"`, `limit a* to 3 per "session"`},
		{`map "a.b".c.d /x y\/#/i as "z"# c`, `map "a.b".c.d /x y\/#/i as "z"`},
		{"map Edit,  Write ,\t\"a.b\", Multi.$.edits[*].path  rm as x", `map Edit, Write, "a.b", Multi.$.edits[*].path rm as x`},
		{`map Edit , "W,",a*  when "true" as x`, `map Edit, "W,", a* when "true" as x`},
		{`example Edit,Write ,"a.b".path "x" not as y`, `example Edit,Write, "a.b".path "x" not as y`},
		{`example Edit, Write  {"a": 1} as y`, `example Edit, Write {"a": 1} as y`},
		{`map bash.command runs  exactly npm  test as x`, `map bash.command runs exactly npm test as x`},
		{`map bash.command runs exactly exactly as x`, `map bash.command runs exactly exactly as x`},
		{`map bash.command runs "exactly" a as x`, `map bash.command runs "exactly" a as x`},
		{`map bash.command runs exactly as x`, `map bash.command runs exactly as x`},
		{`map bash.command runs rm *  as x`, `map bash.command runs rm * as x`},
		{`map bash.command runs npm run "test:*" "&&" as x`, `map bash.command runs npm run "test:*" "&&" as x`},
		{`map bash.command reads  .env* "a b/**" as x`, `map bash.command reads .env* "a b/**" as x`},
		{`map bash.command reads as x`, `map bash.command reads as x`},
		{`map bash.command writes as x`, `map bash.command writes as x`},
		{"map bash.command   / as slash # a/b", "map bash.command / as slash"},
		{"map bash.command /rm/ as rm", "map bash.command /rm/ as rm"},
		{"map bash.command runs as rm", "map bash.command runs as rm"},
		{"block \"a\u200b\\u00ad\U000e0041b\"", `block "a\u200b\u00ad\udb40\udc41b"`},
		{`block a  unless b because  "Use \"c\"\u002e # not a"# d`, `block a unless b because "Use \"c\". # not a"`},
		{`allow a ,b because "c"`, `allow a, b because "c"`},
		{`limit because to 3 per session because "because"`, `limit because to 3 per session because "because"`},
		{`shadow require 2 human-approvals before b after c because "d"`, `shadow require 2 human-approvals before b after c because "d"`},
		{`require a before b since c , d  once with same e because "f"`, `require a before b once since c, d with same e because "f"`},
		{"require a before b once since c", "require a before b once since c"},
		{"require a before b  once unless c ,\td*, \"e,\" # f", `require a before b once unless c, d*, "e,"`},
		{"require human-approval via  cli before b unless c", "require human-approval via cli before b unless c"},
		{"shadow  block a  unless b", "shadow block a unless b"},
		{"shadow require human-approval before b", "shadow require human-approval before b"},
		{"limit a to 3 per  minute unless b", "limit a to 3 per minute unless b"},
		{"limit a to 3 per user", "limit a to 3 per user"},
		{`limit a to 3 per  successful "b"`, `limit a to 3 per successful "b"`},
		{`limit a to 3 per "successful"`, `limit a to 3 per "successful"`},
		{`map bash.command runs  git push "--force" as x`, `map bash.command runs git push --force as x`},
		{`map bash.command runs "as" "a b" as x`, `map bash.command runs "as" "a b" as x`},
		{`map charge  when "args.a == \"b\"" as x`, `map charge when "args.a == \"b\"" as x`},
		{`map "a.b" when "true" as x`, `map "a.b" when "true" as x`},
		{`map t.$.a["b  #"].c[*] rm as x`, `map t.$.a["b  #"].c[*] rm as x`},
		{`example t.f  "a\/b"  not as x # c`, `example t.f "a/b" not as x`},
		{`example t  {"a": [ 1 ] } as x`, `example t {"a": [ 1 ] } as x`},
		{"require a ,b*,\t\"c,\"  before  d,e", `require a, b*, "c," before d,e`},
		{"require a  or b or \"or\" before c once", `require a or b or "or" before c once`},
		{`require or or "before" before before`, `require or or "before" before before`},
		{"require a before b  since c ,d unless e", "require a before b since c, d unless e"},
		{"require 1 human-approvals before a", "require human-approval before a"},
		{"require  2 human-approval via cli before a,b after c , d until e unless f", "require 2 human-approvals via cli before a,b after c, d until e unless f"},
		{"require 2 before b", "require 2 before b"},
		{"shadow block a,b after c", "shadow block a,b after c"},
		{"block after after until until until", "block after after until until until"},
		{"allow a ,\"b c\" , d* # e", `allow a, "b c", d*`},
		{"require a before b with  same path ,$.a[\"b, #\"].c", `require a before b with same path, $.a["b, #"].c`},
		{"require a before b for each path", "require a before b with same path"},
		{"require a before b with same src  as dst , x as x", "require a before b with same src as dst, x"},
		{"require a before b with same result.$.x as y", "require a before b with same y as result.$.x"},
		{"require a before b with same y as result.$.x[*].z", "require a before b with same y as result.$.x[*].z"},
		{`require a before b with same "args.a + \"b\"","x" as y#z`, `require a before b with same "args.a + \"b\"", "x" as y`},
		{"limit a, b to 3 per  session for  each c ,d unless e", "limit a, b to 3 per session for each c, d unless e"},
		{"limit a to 3 per b with same c", "limit a to 3 per b for each c"},
		{"limit a to 3 per b with same c as d, e", "limit a to 3 per b with same c as d, e"},
		{"limit a to 3 per successful b with same result.$.c as d", "limit a to 3 per successful b with same d as result.$.c"},
		{"limit a to 3 per user  per day", "limit a to 3 per user per day"},
		{"limit a to 1 at  once for each $.b", "limit a to 1 at once for each $.b"},
		{"limit * to 3 in  a row unless b", "limit * to 3 in a row unless b"},
		{"limit a to 9 of  $.b.c per user", "limit a to 9 of $.b.c per user"},
		{`limit a to 9 of "args.b * 100.0" per user per day for each c`, `limit a to 9 of "args.b * 100.0" per user per day for each c`},
		{"limit a to 9 of result per session", "limit a to 9 of result per session"},
		{"prove\tnever a* # b", "prove never a*"},
		{`prove never "before" before before`, `prove never "before" before before`},
		{"prove never a without human-approval", "prove never a without human-approval"},
		{"prove at-most 3 a per session", "prove at-most 3 a per session"},
		{"prove reachable a", "prove reachable a"},
		{`prove never a,"b, c" ,d*`, `prove never a, "b, c", d*`},
		{"prove never a, b before  c,d once # e", "prove never a, b before c, d once"},
		{"prove never a without  2 human-approvals via cli", "prove never a without 2 human-approvals via cli"},
		{"prove never a, b without human-approval via elicit", "prove never a, b without human-approval via elicit"},
		{"prove never a after b", "prove never a after b"},
		{"prove never a after b,c without human-approval until d ,e", "prove never a after b, c without human-approval until d, e"},
		{"prove never a after b until c", "prove never a after b until c"},
		{"prove never a while a", "prove never a while a"},
		{`prove never while while "while"`, `prove never while while "while"`},
		{"prove never a before b with same c", "prove never a before b with same c"},
		{`prove never a, b before c once with same d as  e,$.f as result.$.g # h`, `prove never a, b before c once with same d as e, $.f as result.$.g`},
		{"prove at-most 3 a for each c per session", "prove at-most 3 a for each c per session"},
		{`prove at-most 3 a per user per day for each "args.c",$.d`, `prove at-most 3 a for each "args.c", $.d per user per day`},
		{"prove at-most 3 a, b per c", "prove at-most 3 a, b per c"},
		{"prove at-most 3 a per successful b, c", "prove at-most 3 a per successful b, c"},
		{"prove at-most 3 a per  minute", "prove at-most 3 a per minute"},
		{"prove at-most 3 a per user", "prove at-most 3 a per user"},
		{"prove at-most 3 a per user  per day", "prove at-most 3 a per user per day"},
		{`prove at-most 3 a per "hour"`, `prove at-most 3 a per "hour"`},
		{"prove only a,b", "prove only a, b"},
		{"prove only a, b  without human-approval", "prove only a, b without human-approval"},
		{`prove narrower-than "base # 1.rules"`, `prove narrower-than "base # 1.rules"`},
		{"prove always-possible a but  for its own budget", "prove always-possible a but for its own budget"},
		{"prove reachable a, b", "prove reachable a, b"},
		{"prove no-failure-locks a, b", "prove no-failure-locks a, b"},
		{"prove always-possible a", "prove always-possible a"},
		{"prove conserved n", "prove conserved n"},
		{`prove exclusive a,"b, c" , d#e`, `prove exclusive a, "b, c", d`},
		{`prove deadlock-free "n m"`, `prove deadlock-free "n m"`},
		{"prove no-terminal-states require-a-before-b", "prove no-terminal-states require-a-before-b"},
	}
	for _, test := range tests {
		f, errs := rules.Parse("", []byte(test.src))
		if errs != nil {
			t.Errorf("%q: %s", test.src, errs)
			continue
		}
		if got := f.String(); got != test.want+"\n" {
			t.Errorf("%q is printed as %q", test.src, got)
		}
	}
}

// FuzzParse checks that the parser accepts any input, that its errors are sorted and have positions
// in the text, and that the printed form parses to the same statements.
func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"require backup before delete\nrequire human-approval before deploy\nblock rm\nlimit push to 3 per session\nlimit push to 1 per test",
		"map bash.command /cp\\s+-r/i as backup\nmap \"a.b\".c.$d --force as \"x y\"",
		"map t.f /etc as a/ # b/ as c\nmap t.f / as b\nmap t.f /a #b/ as x",
		"block \"a\\ud83d\\ude00\\u0085\"\nblock \"\\\"\nblock a\"b\nblock \xff\nblock a\x00",
		"\ufeffblock *?\u2028\n\r\n#\nblock a#b",
		"prove never a\nprove never a before \"b\"\nprove never a* without human-approval\nprove at-most 3 a per session\nprove reachable a",
		"prove always-possible a\nprove conserved n\nprove exclusive a,\"b,\" ,c#d\nprove deadlock-free n\nprove no-terminal-states n\nprove exclusive a,\"b\"c",
		"require a before b once unless c, d\nshadow limit a to 3 per successful b unless \"c d\"\nlimit a to 3 per user\nrequire human-approval via cli before b",
		"map t.f runs git \"a b\" as n\nmap t when \"args.a == \\\"b\\\"\" as n\nmap t.$.a[\"b #\"][*] x as n\nblock n unless n",
		"map t.f rm as n\nexample t.f \"rm\" as n\nexample t {\"f\": 1} not as n\nexample t.f \"rm\" not as n",
		"require a, b before c, d since e, f with same g, $.h[\"i, j\"] unless k\nrequire a or b before c once with same d as e, \"args.f\" as result.$.g",
		"require 2 human-approvals via cli before a, b after c until d unless e\nblock a, b* after c, d\nallow a, \"b,\", c*\nrequire 1 human-approval before a",
		"limit a, b to 3 per user per day for each c, d\nlimit a to 1 at once\nlimit * to 3 in a row\nlimit a to 9 of $.b per hour for each \"args.c\"\nlimit a to 1 per successful b with same c as result.$.d",
		"prove never a, b before c,d once\nprove never a after b without 2 human-approvals via cli until c, d\nprove never a while b\nprove only a, b without human-approval",
		"prove never a before b once with same c as d, \"args.e\" as result.$.f\nprove at-most 3 a for each c, $.d per user per day\nprove at-most 3 a,b per successful c\nprove at-most 3 a per user per day\nprove at-most 3 a per hour\nprove narrower-than base.rules\nprove always-possible a but for its own budget\nprove no-failure-locks a",
		"require a before b once since c because \"d\"\nblock a because \"b # \\\"c\"\nallow a because \"\"\nrequire a or b before c since d once",
		"map a, b,c, \"d\".e f as g\nmap a , b when \"true\" as g\nexample a, b.e \"f\" as g\nexample a, b {\"e\": \"f\"} not as g\nmap a.b, c.d e as g\nmap , a.b c as g\nmap a,.b c as g",
		"map t.f runs exactly a b as n\nmap t.f runs \"exactly\" a as n\nmap t.f runs a * as n\nmap t.f reads .e* \"a b\" as n\nmap t.f writes * as n\nmap t.f runs Bash(a b:*) as n\nmap t.f runs a \"b:*\" \"|\" as n\nmap t.f runs a | b as n",
		"prove x\nblock a unless b\nmap a when \"b\" as c\nlimit a to 3 per successful b",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, errs := rules.Parse("f", src)
		lines := strings.Split(strings.TrimPrefix(string(src), "\ufeff"), "\n")
		last := 0
		for _, e := range errs {
			if e.Pos.Line <= last || e.Pos.Line > len(lines) || e.Pos.Column < 1 || e.Pos.Column > len([]rune(lines[e.Pos.Line-1]))+1 {
				t.Fatalf("%s is out of order or out of the text", e)
			}
			if last = e.Pos.Line; e.Code == "" || e.Msg == "" || e.Excerpt() == "" {
				t.Fatalf("%#v says too little", e)
			}
		}
		printed := file.String()
		again, errs := rules.Parse("f", []byte(printed))
		if errs != nil {
			t.Fatalf("%q does not parse: %s", printed, errs)
		}
		if diff := cmp.Diff(file.Statements, again.Statements, sameStatement); diff != "" {
			t.Fatalf("%q is another file: %s", printed, diff)
		}
		if again.String() != printed {
			t.Fatalf("%q is printed as %q", printed, again)
		}
		c, err := rules.Compile(file)
		if err != nil {
			return
		}
		if _, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{}); err != nil {
			t.Fatalf("the gate refuses %q: %v", printed, err)
		}
	})
}
