package rules_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

// The names in a file: calls, tools whose arguments it reads, and labels that it gives. A program
// that knows the tools can report which of them do not exist.
func ExampleFile_Names() {
	f, _ := rules.Parse("safety.rules", []byte(`map bash.command runs rm as delete
require backup before delete, drop_*
prove never push
`))
	for _, n := range f.Names() {
		fmt.Println(n.Pos, n)
	}
	fmt.Println("reads", f.Tools(), "and names", f.Labels())
	// Output:
	// safety.rules:2:9 backup
	// safety.rules:2:23 delete
	// safety.rules:2:31 drop_*
	// safety.rules:3:13 push
	// reads [bash] and names [delete]
}

// A quoted name is literal; a name with * or ? is a pattern.
func ExampleName_Matches() {
	f, _ := rules.Parse("safety.rules", []byte("block delete_*\nblock \"delete_*\"\nblock delete_?\n"))
	for _, n := range f.Names() {
		fmt.Println(n, n.Glob(), n.Matches("delete_file"), n.Matches("delete_*"))
	}
	// Output:
	// delete_* true true true
	// "delete_*" false false true
	// delete_? true false true
}

// A hand-written net can list the name of a rule.
func ExampleName_Call() {
	f, _ := rules.Parse("safety.rules", []byte("block chat.send\nblock \"chat.send\"\nblock chat.*\n"))
	for _, n := range f.Names() {
		tool := n.Call()
		fmt.Println(tool.Name, tool.Kind == gate.Literal, tool.Kind == gate.Glob)
	}
	// Output:
	// chat.send false false
	// chat.send true false
	// chat.* false true
}

// A message about a name can show the name's position.
func ExampleName_Excerpt() {
	f, _ := rules.Parse("safety.rules", []byte("require backup before delte"))
	n := f.Names()[1]
	fmt.Printf("%s: no tool is called %s\n%s", n.Pos, n, n.Excerpt())
	// Output:
	// safety.rules:1:23: no tool is called delte
	//     require backup before delte
	//                           ^^^^^
}

// A message about a field can show the field's position.
func ExampleField_Excerpt() {
	f, _ := rules.Parse("safety.rules", []byte("limit pay to 100 of amout per session"))
	of := f.Statements[0].(*rules.Limit).Of
	fmt.Printf("%s: no tool has an argument %s\n%s", of.Pos, of, of.Excerpt())
	// Output:
	// safety.rules:1:21: no tool has an argument amout
	//     limit pay to 100 of amout per session
	//                         ^^^^^
}

// A word matches as a whole word.
func ExampleMatchWord() {
	rm := rules.MatchWord("rm")
	force := rules.MatchWord("--force")
	for _, s := range []string{"rm -rf build", "sudo rm x", "alarm", "push --force", "push --force-with-lease"} {
		fmt.Println(s, rm(s), force(s))
	}
	// Output:
	// rm -rf build true false
	// sudo rm x true false
	// alarm false false
	// push --force false true
	// push --force-with-lease false true
}

// A regular expression matches anywhere, unless it is anchored.
func ExampleMatchRegex() {
	env, err := rules.MatchRegex(`(^|/)\.env$`)
	fmt.Println(env("src/.env"), env("src/.environment"), err)
	_, err = rules.MatchRegex(`a{5000}`)
	fmt.Println(err)
	// Output:
	// true false <nil>
	// invalid regex: invalid repeat count: `{5000}`
}

// A parsed pattern matches what its compiled map would match.
func ExamplePattern_Match() {
	f, _ := rules.Parse("safety.rules", []byte("map bash.command /\\brm\\b/i as delete\nmap bash.command sudo as root\n"))
	for _, s := range f.Statements {
		p := s.(*rules.Map).Pattern
		fmt.Println(p, p.Match("sudo RM x"), p.Match("alarm"))
	}
	// Output:
	// /\brm\b/i true false
	// sudo true false
}
