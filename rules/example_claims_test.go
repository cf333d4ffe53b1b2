package rules_test

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

// A claim about several names stands for a claim about each name or each pair.
func ExampleProve_Each() {
	f, _ := rules.Parse("safety.rules", []byte("prove never push, deploy before test, lint\nprove at-most 3 push, deploy per session\n"))
	for _, s := range f.Statements {
		for _, one := range s.(*rules.Prove).Each() {
			fmt.Println(one)
		}
	}
	// Output:
	// prove never push before test
	// prove never push before lint
	// prove never deploy before test
	// prove never deploy before lint
	// prove at-most 3 push, deploy per session
}

// The reachable states of each net: a blocked call never fires, and a limit that is used up ends in
// a deadlock.
func ExampleCompiled_Verification() {
	f, _ := rules.Parse("safety.rules", []byte("require backup before delete\nlimit push to 3 per session\nblock rm\n"))
	c, err := rules.Compile(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range c.Verification() {
		fmt.Println(v.Name, "states:", v.States, "deadlocks:", v.Deadlocks, "dead:", v.Dead)
	}
	// Output:
	// require-backup-before-delete states: 3 deadlocks: 0 dead: []
	// limit-push-3 states: 5 deadlocks: 1 dead: []
	// block-rm states: 2 deadlocks: 1 dead: [do-rm]
}

// All errors in all files at once, with their source lines, for a terminal.
func ExampleErrorList_Format() {
	mine, _ := rules.Parse("mine.rules", []byte("block rm\nlimit push to 3 per push\n"))
	team, _ := rules.Parse("team.rules", []byte("require backup delete\n"))
	_, err := rules.Compile(mine, team)
	var errs rules.ErrorList
	if errors.As(err, &errs) {
		fmt.Println(len(errs), "errors")
		fmt.Print(errs.Format())
	}
	// Output:
	// 2 errors
	// mine.rules:2:21: push would refill its own limit (write: per session)
	//     limit push to 3 per push
	//                         ^^^^
	// team.rules:1:16: expected "before", not "delete" (write: require A before B)
	//     require backup delete
	//                    ^^^^^^
}

// A warning concerns a statement that loads but is probably a mistake.
func ExampleWarning() {
	f, _ := rules.Parse("safety.rules", []byte("require delete before delete\n"))
	c, err := rules.Compile(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range c.Warnings {
		fmt.Printf("%s %s\n%s", w.Code, w, w.Excerpt())
	}
	// Output:
	// W006 safety.rules:1:1: delete is required before itself, so no call to it ever passes (name the call that must succeed first)
	//     require delete before delete
	//     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
}

func ExampleSuccess() {
	f, _ := rules.Parse("shell.rules", []byte("require test before push\nsuccess test, \"my shell\" when \"result.exitCode == 0\"\n"))
	c, err := rules.Compile(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Statements[1], f.Statements[1].Position(), f.Tools(), f.Names())
	for _, result := range []string{`{"exitCode":0}`, `{"exitCode":3}`, `{}`} {
		end, broken := p.Judged(&gate.Call{Tool: "test"}, gate.End{Outcome: gate.Success, Result: []byte(result)})
		fmt.Println(result, end.Outcome, broken != nil)
	}
	// Output:
	// success test, "my shell" when "result.exitCode == 0" shell.rules:2:1 [test "my shell"] [test push]
	// {"exitCode":0} success false
	// {"exitCode":3} failure true
	// {} failure true
}
