package petri

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSpin compares the results with those of the model checker SPIN, if SPIN and a C compiler are
// installed and PETRIGATE_LARGE_NETS is set. Each transition is a single atomic step, so the states
// that SPIN stores are the markings.
func TestSpin(t *testing.T) {
	if os.Getenv("PETRIGATE_LARGE_NETS") == "" {
		t.Skip("it compiles a program for each net; PETRIGATE_LARGE_NETS is not set")
	}
	for _, program := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s", program)
		}
	}
	nets := make(map[string]func() (*Net, Marking))
	for _, name := range []string{"workflow-deploy", "rule-limit-per-action-10", "frobenius", "chem-h2o", "sink"} {
		nets[name] = readNet(t, ownNets, name).net
	}
	nets["two budgets"] = func() (*Net, Marking) { return counterNets["two budgets"](6) }
	nets["a long way round"] = func() (*Net, Marking) { return counterNets["a long way round"](9) }
	for name, make := range nets {
		t.Run(name, func(t *testing.T) {
			n, m := make()
			states, stuck := spin(t, promela(n, m))
			a := Analyze(n, m, Options{})
			if a.States != states || (a.Deadlocks > 0) != stuck {
				t.Errorf("%d states and %d deadlocks; SPIN has %d states, and a deadlock: %v", a.States, a.Deadlocks, states, stuck)
			}
		})
	}
}

// promela returns a process that fires any enabled transition.
func promela(n *Net, initial Marking) string {
	var b strings.Builder
	for place, tokens := range initial {
		fmt.Fprintf(&b, "int p%d = %d;\n", place, tokens)
	}
	b.WriteString("active proctype net() {\nfire:\n\tatomic { if\n")
	for i := range n.Transitions {
		b.WriteString("\t:: (1")
		for _, a := range n.Transitions[i].In {
			fmt.Fprintf(&b, " && p%d >= %d", a.Place, a.Weight)
		}
		b.WriteString(")")
		for _, a := range n.Transitions[i].In {
			fmt.Fprintf(&b, " -> p%d = p%d - %d", a.Place, a.Place, a.Weight)
		}
		for _, a := range n.Transitions[i].Out {
			fmt.Fprintf(&b, " -> p%d = p%d + %d", a.Place, a.Place, a.Weight)
		}
		b.WriteString(" -> goto fire\n")
	}
	b.WriteString("\tfi }\n}\n")
	return b.String()
}

// spin counts a model's states and reports whether any of them has no successor.
func spin(t *testing.T, model string) (states int, stuck bool) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "net.pml"), []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		c := exec.Command(name, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, out, model)
		}
		return string(out)
	}
	run("spin", "-a", "net.pml")
	run("gcc", "-w", "-O0", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c")
	out := run("./pan", "-c0", "-m100000")
	found := regexp.MustCompile(`(\d+) states, stored`).FindStringSubmatch(out)
	if found == nil {
		t.Fatal(out)
	}
	states, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return states, !strings.Contains(out, "errors: 0")
}
