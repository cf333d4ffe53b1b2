package rules_test

import (
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

func ExampleParse() {
	_, errs := rules.Parse("safety.rules", []byte("block rm\nblok delete\nlimit push to three per session\n"))
	fmt.Print(errs.Format())
	// Output:
	// safety.rules:2:1: unknown statement "blok" (did you mean "block"?)
	//     blok delete
	//     ^^^^
	// safety.rules:3:15: invalid count "three" (use a whole number from 1 to 2147483647, in plain digits)
	//     limit push to three per session
	//                   ^^^^^
}

func ExampleParseAt() {
	// Rules on line 7 of a larger file, indented by four spaces.
	_, errs := rules.ParseAt([]byte("blok rm"), func(line, column int) gate.Position {
		return gate.Position{File: "petrigate.yaml", Line: line + 6, Column: column + 4}
	})
	fmt.Println(errs)
	// Output:
	// petrigate.yaml:7:5: unknown statement "blok" (did you mean "block"?)
}

func ExampleCompile() {
	f, _ := rules.Parse("safety.rules", []byte("map bash.command rm as delete\nrequire backup before delete\nblock push # never\nblock push\n"))
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
	s := gate.NewSession(p, gate.SessionOptions{})
	if r, ok := s.Decide(gate.Call{Tool: "bash", Args: []byte(`{"command":"rm -rf build/"}`)}, nil).(*gate.Refusal); ok {
		fmt.Println(r.Text)
	}
	fmt.Println(c.Warnings[0])
	// Output:
	// bash `rm -rf build/` (delete) requires a successful call to backup first.
	// safety.rules:4:1: the statement at safety.rules:3:1 already says "block push"
}

func ExampleLoad() {
	fsys := fstest.MapFS{ // use os.DirFS(".") for files on disk
		"files.rules":  {Data: []byte("require backup before delete\n")},
		"limits.rules": {Data: []byte("limit push to 3 per session\n")},
	}
	c, err := rules.Load(fsys, "files.rules", "limits.rules")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range c.Verification() {
		fmt.Println(v.Name, v.States)
	}
	// Output:
	// require-backup-before-delete 3
	// limit-push-3 5
}

func ExampleError() {
	f, _ := rules.Parse("a.rules", []byte("limit push to 3 per push"))
	_, err := rules.Compile(f)
	var e *rules.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, e.Pos.Line, e.Pos.Column, e.Msg)
		fmt.Print(e.Excerpt())
	}
	// Output:
	// E010 1 21 push would refill its own limit
	//     limit push to 3 per push
	//                         ^^^^
}

func ExampleCompiled_claims() {
	f, _ := rules.Parse("safety.rules", []byte("require test before deploy\nprove never deploy before test # ever\n"))
	c, err := rules.Compile(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, claim := range c.Claims {
		fmt.Println(claim.Pos, claim, "is about", claim.Tools[0], "and", claim.Others[0])
	}
	// Output:
	// safety.rules:2:1 prove never deploy before test is about deploy and test
}

func ExampleFormat() {
	out, err := rules.Format([]byte("block   rm#never\n\n\n\nrequire  backup before  delete  # each time\nlimit push to 3 per session # in all\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(out))
	// Output:
	// block rm #never
	//
	// require backup before delete # each time
	// limit push to 3 per session  # in all
}

func ExampleCompile_maps() {
	f, _ := rules.Parse("safety.rules", []byte(`map bash.command runs rm as delete
map bash.command runs ls as listing
block delete
require human-approval before bash unless listing
example bash.command "sudo rm -rf x" as delete
example bash.command "echo rm" not as delete
`))
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
	s := gate.NewSession(p, gate.SessionOptions{})
	for _, script := range []string{"ls -l", "ls; make", "find . -exec r''m {} +"} {
		args := fmt.Appendf(nil, `{"command": %q}`, script)
		fmt.Printf("%s: %T\n", script, s.Decide(gate.Call{Tool: "bash", Args: args}, nil))
	}
	// Output:
	// ls -l: *gate.Allow
	// ls; make: *gate.Ask
	// find . -exec r''m {} +: *gate.Refusal
}
