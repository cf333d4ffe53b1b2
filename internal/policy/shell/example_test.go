package shell_test

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/policy/shell"
)

func ExampleRead() {
	r := shell.Read(`cd /tmp && sudo -u me find . -name '*.o' -exec rm {} +`)
	for _, words := range [][]string{{"rm"}, {"sudo", "find"}, {"mv"}} {
		p, err := shell.Compile(words)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(p, "->", r.Runs(p))
	}
	// Output:
	// rm -> match
	// sudo find -> match
	// mv -> no match
}

func ExampleReading_Doubt() {
	fmt.Println(shell.Read(`$TOOL x`).Doubt())
	// Output: a command word that is not literal
}

func ExampleReading_Only() {
	ls, _ := shell.Compile([]string{"ls"})
	cat, _ := shell.Compile([]string{"cat"})
	for _, script := range []string{"ls -l | cat", "ls; rm x", "ls > list"} {
		fmt.Printf("%-12s %v\n", script, shell.Read(script).Only(ls, cat))
	}
	// Output:
	// ls -l | cat  true
	// ls; rm x     false
	// ls > list    false
}

func ExampleReading_Evidence() {
	cp, _ := shell.Compile([]string{"cp"})
	for _, script := range []string{"cp a b", "echo cp", "cp a b || true", "cp --help"} {
		fmt.Printf("%-15s %v\n", script, shell.Read(script).Evidence(cp))
	}
	// Output:
	// cp a b          true
	// echo cp         false
	// cp a b || true  false
	// cp --help       false
}
