package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/shell"
)

func TestReader(t *testing.T) {
	r := shell.Options{}.NewReader()
	number := func(words ...string) int {
		n, err := r.Command(words, false)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	ls, push, same := number("ls"), number("git", "push"), number("git", "push")
	if ls == push || push != same {
		t.Errorf("the commands have the numbers %d, %d and %d", ls, push, same)
	}
	if _, err := r.Command([]string{"/bin/ls"}, false); err == nil {
		t.Error("a path is taken for a name")
	}
	tests := []struct {
		script         string
		ls, push       gate.Found
		only, evidence bool // of ls
	}{
		{"ls -l", gate.Surely, gate.NotFound, true, true},
		{"ls; git push", gate.Surely, gate.Surely, false, false},
		{"ls | ls", gate.Surely, gate.NotFound, true, true},
		{"echo ls", gate.NotFound, gate.NotFound, false, false},
		{"$X", gate.Perhaps, gate.Perhaps, false, false},
	}
	for _, test := range tests {
		reading := r.Read(&gate.Call{}, test.script)
		if reading.Finds(ls) != test.ls || reading.Finds(push) != test.push || reading.Only([]int{ls}) != test.only || reading.Evidence(ls) != test.evidence {
			t.Errorf("%s: ls %d, git push %d, only ls %v, evidence of ls %v", test.script,
				reading.Finds(ls), reading.Finds(push), reading.Only([]int{ls}), reading.Evidence(ls))
		}
	}
	long := "echo " + strings.Repeat("x", 100) + "; cd a && git push origin main && ls"
	if d := r.Read(nil, long).Doubt(push); d.What != "" || d.Code != "git push origin main" || d.At != 116 {
		t.Errorf("the part of a long script is %+v", d)
	}
	if !r.Read(nil, "ls && git push").Only([]int{ls, push}) {
		t.Error("two commands are not all of a script of them")
	}
}

func ExampleReader() {
	r := shell.Options{}.NewReader()
	rm, err := r.Command([]string{"rm"}, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := gate.NewPolicy([]gate.Net{{Name: "names", Labels: &gate.Labels{
		Maps: []gate.Map{{Tool: "bash", Field: "command", Reader: r, Pattern: rm, As: "delete"}},
	}}}, gate.PolicyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Names(gate.Call{Tool: "bash", Args: []byte(`{"command": "find . -exec r''m {} +"}`)}))
	// Output:
	// [{bash true false} {delete false true}]
}
