package shell_test

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/shell"
)

func ExampleRead() {
	r := shell.Read(`cd /tmp && sudo -u me find . -name '*.o' -exec rm {} +`)
	for _, words := range [][]string{{"rm"}, {"sudo", "find"}, {"mv"}} {
		p, err := shell.Compile(words, false)
		if err != nil {
			fmt.Println(err)
			continue
		}
		found, _ := r.Runs(p)
		fmt.Println(p, "->", found)
	}
	// Output:
	// rm -> match
	// sudo find -> match
	// mv -> no match
}

func ExampleReading_Runs() {
	rm, _ := shell.Compile([]string{"rm"}, false)
	found, why := shell.Read(`ls; $TOOL x`).Runs(rm)
	fmt.Println(found, "because of", why)
	fmt.Println(why.Advice)
	// Output:
	// opaque because of a command word that is not literal in `$TOOL x`
	// write the name of the program itself
}

func ExampleReading_Only() {
	ls, _ := shell.Compile([]string{"ls"}, false)
	cat, _ := shell.Compile([]string{"cat"}, false)
	for _, script := range []string{"ls; rm x", "ls > list"} {
		ok, why := shell.Read(script).Only(ls, cat)
		fmt.Printf("%-10s %v: %v\n", script, ok, why)
	}
	// Output:
	// ls; rm x   false: another command in `rm x`
	// ls > list  false: it writes to a file, sets a variable or defines a function
}

func ExampleReading_Surely() {
	test, _ := shell.Compile([]string{"npm", "test"}, false)
	for _, script := range []string{"npm test || true", "npm test 2>&1 | tail -3"} {
		ok, why := shell.Read(script).Surely(test)
		fmt.Println(ok, why, why.Advice)
	}
	// Output:
	// false || hides whether it ran and succeeded in `npm test` run `npm test` in a separate call
	// false the pipe hides whether it failed in `npm test 2>&1` write `set -o pipefail; npm test 2>&1 | tail -3`
}
