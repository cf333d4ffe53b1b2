package verify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A sample is a policy whose verification is timed.
type sample struct{ name, rules, prove string }

// samples returns policies of sixty rules in the most expensive forms, and some others.
func samples() []sample {
	return []sample{
		{"million", "limit push to 1000000 per session\n", ""},
		{"thirteen", thirteen(), ""},
		{"sixty", sixty(), "never write0 before read0\nat-most 5 delete\nalways-possible read3\n"},
		{"star20", star(20), ""},
		{"independent", independent(30), "never b7 before a7\nat-most 12 b7\nreachable b29\n"},
		{"chain", chain(30), "never t30 before t29\nnever t5 before t4\nat-most 10 t1\nat-most 10 t30\nreachable t30\nalways-possible t0\n"},
		{"star", star(30) + limits("a", 30), "never deploy before a7\nat-most 10 a3\nreachable deploy\n"},
		{"fan", fan(30), "never b7 before start\nat-most 12 b7\nreachable b29\n"},
		{"maps", mapped(8, 52), "never l1 before l0\nat-most 5 l7\nreachable l3\n"},
		{"requires", requires(500), "never t1 before t0\nreachable t500\n"},
		{"commands", commands(500), "never n7 without human-approval\nreachable n499\n"},
		{"cycles", cycles(20), "never c0x\nnever c19z\n"},
		{"refills", refills(30), "at-most 3 b0\nreachable b29\nnever b3 before a3\nalways-possible b29\n"},
		{"keyed", keyed(20), "reachable write7\nnever write3 before read3 with same path\n"},
		{"mixed", mixed(300), ""},
		{"since", since(20), ""},
		{"beside", beside(20), "never b before a0\n"},
		{"assistant", assistant(), "never gmail-send before gmail-read\nat-most 3 slack-send\nreachable db-delete\nnever db-drop\n"},
	}
}

func BenchmarkPolicy(b *testing.B) {
	for _, c := range samples() {
		b.Run(c.name, func(b *testing.B) {
			p, o := build(b, map[string]string{"policy.rules": c.rules, "prove": c.prove})
			b.ReportAllocs()
			var r *verify.Report
			for b.Loop() {
				r = verify.Policy(p, o)
			}
			b.ReportMetric(float64(r.Visited), "states")
		})
	}
}

// TestSamples checks that all names in each sample are decided, that all claims in large samples
// are decided, and that this takes little time.
func TestSamples(t *testing.T) {
	for _, c := range samples() {
		t.Run(c.name, func(t *testing.T) {
			p, o := build(t, map[string]string{"policy.rules": c.rules, "prove": c.prove})
			r := verify.Policy(p, o)
			unsure, locks := 0, map[verify.Result]int{}
			for _, proof := range r.Proofs {
				if proof.Result == verify.Unknown && len(p.Nets()) >= 500 {
					t.Errorf("%T is not known: %s", proof.Assertion, proof.Why)
				}
			}
			for _, n := range r.Names {
				if n.Callable == verify.Unsure {
					unsure++
				}
			}
			for _, g := range r.Groups {
				locks[g.Deadlock.Result]++
			}
			if unsure > 0 || r.Visited > 100_000 {
				t.Errorf("%d names are unsure, %d states", unsure, r.Visited)
			}
			t.Logf("%d nets, %d names, %d groups, deadlocks %v, %d redundant, %d states, gaps %q",
				len(p.Nets()), len(r.Names), len(r.Groups), locks, len(r.Redundant), r.Visited, r.Gaps)
		})
	}
}

func thirteen() string {
	var s strings.Builder
	for i := range 13 {
		fmt.Fprintf(&s, "require a%d before b%d\n", i, i)
	}
	return s.String()
}

// independent returns n pairs of rules that share no call.
func independent(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require a%d before b%d\nlimit b%d to %d per session\n", i, i, i, 5+i)
	}
	return s.String()
}

// chain returns a pipeline of n steps that can each be taken a few times.
func chain(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require t%d before t%d\nlimit t%d to 10 per session\n", i, i+1, i+1)
	}
	return s.String()
}

// requires returns a chain of n rules.
func requires(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require t%d before t%d\n", i, i+1)
	}
	return s.String()
}

// commands returns n commands that require approval.
func commands(n int) string {
	var s strings.Builder
	for i := range n {
		letters := []byte{'p', 'a' + byte(i/100), 'a' + byte(i/10%10), 'a' + byte(i%10), 'x'}
		fmt.Fprintf(&s, "map bash.command runs %s as n%d\nrequire human-approval before n%d\n", letters, i, i)
	}
	return s.String()
}

// star returns rules with many prerequisites of the same tool.
func star(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require a%d before deploy\n", i)
	}
	return s.String()
}

func limits(tool string, n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "limit %s%d to 10 per session\n", tool, i)
	}
	return s.String()
}

// fan returns rules with the same prerequisite for many tools.
func fan(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require start before b%d\nlimit b%d to 12 per session\n", i, i)
	}
	return s.String()
}

// mapped returns rules about the labels of a single tool. Each rule requires some of the previous
// labels.
func mapped(maps, rules int) string {
	var s strings.Builder
	for i := range maps {
		fmt.Fprintf(&s, "map bash.command word%d as l%d\n", i, i)
	}
	for step := 1; step < maps; step++ {
		for i := 0; i+step < maps && rules > 0; i++ {
			fmt.Fprintf(&s, "require l%d before l%d\nlimit l%d to %d per session\n", i, i+step, i, 4+step)
			rules -= 2
		}
	}
	return s.String()
}

// cycles returns triples of tools that wait for one another.
func cycles(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require c%dx before c%dy\nrequire c%dy before c%dz\nrequire c%dz before c%dx\n", i, i, i, i, i, i)
	}
	return s.String()
}

// refills returns a chain of limits, each refilled by the previous step.
func refills(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require b%d before b%d\nlimit b%d to 3 per b%d\n", i, i+1, i+1, i)
	}
	return s.String()
}

// assistant returns fifty maps of one field, and rules about their labels.
func assistant() string {
	var s strings.Builder
	services := []string{"gmail", "slack", "db", "git", "fs", "cal", "jira", "k8s", "s3", "pay"}
	verbs := []string{"read", "send", "delete", "drop", "list"}
	for _, a := range services {
		for _, v := range verbs {
			fmt.Fprintf(&s, "map exec.command /%s\\s+%s/ as %s-%s\n", a, v, a, v)
		}
		fmt.Fprintf(&s, "require %[1]s-read before %[1]s-send\nrequire %[1]s-list before %[1]s-delete\n", a)
		fmt.Fprintf(&s, "require human-approval before %[1]s-delete\nblock %[1]s-drop\nlimit %[1]s-send to 3 per session\n", a)
	}
	s.WriteString("require git-read before k8s-send\nrequire slack-send before pay-send\nlimit exec to 500 per session\n")
	s.WriteString("require jira-read before git-send\nlimit pay-send to 1 per pay-read\nrequire human-approval before pay-send\n")
	return s.String()
}

// keyed returns n rules with a key and as many limits per value. No two of them share a call.
func keyed(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "require read%d before write%d with same path\n", i, i)
		fmt.Fprintf(&s, "limit post%d to 3 per session for each channel\n", i)
	}
	return s.String()
}

// mixed returns n rules of seven kinds, some of them with a key. No two of them share a call.
func mixed(n int) string {
	kinds := []string{
		"require a%[1]d before b%[1]d with same path", "limit c%[1]d to 3 per session for each channel",
		"limit d%[1]d to 200 of amount per session", "block e%[1]d after f%[1]d until g%[1]d",
		"require human-approval before h%[1]d after i%[1]d", "require j%[1]d before k%[1]d since l%[1]d with same id",
		"limit m%[1]d to 3 per n%[1]d for each zone",
	}
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, kinds[i%len(kinds)]+"\n", i)
	}
	return s.String()
}

// since returns n random rules about n names; many of them wait for each other.
func since(n int) string {
	var s strings.Builder
	r := rand.New(rand.NewPCG(3, 9))
	for range n {
		of := r.Perm(n)
		fmt.Fprintf(&s, "require t%d before t%d since t%d\n", of[0], of[1], of[2])
	}
	return s.String()
}

// beside returns n prerequisites of the same tool. Each invalidates the successes of the others.
func beside(n int) string {
	var s strings.Builder
	for i := range n {
		var others []string
		for k := range n {
			if k != i {
				others = append(others, fmt.Sprintf("a%d", k))
			}
		}
		fmt.Fprintf(&s, "require a%d before b since %s\n", i, strings.Join(others, ", "))
	}
	return s.String()
}

// sixty returns a policy of sixty rules, most of them connected.
func sixty() string {
	var s strings.Builder
	s.WriteString("map bash.command rm as delete\nmap bash.command cp as backup\nmap bash.command /git push/ as push\nmap bash.command /curl|wget/ as fetch\n")
	s.WriteString("require backup before delete\nrequire human-approval before delete\nlimit delete to 5 per session\nlimit bash to 200 per session\n")
	s.WriteString("require test before push\nlimit push to 3 per test\nrequire human-approval before deploy\nrequire push before deploy\nlimit deploy to 2 per session\n")
	s.WriteString("require lint before deploy\nrequire build before deploy\nrequire lint before build\nblock *.destroy\nlimit * to 1000 per session\n")
	for i := range 16 {
		fmt.Fprintf(&s, "require read%d before write%d\nlimit write%d to %d per session\n", i, i, i, 10+i)
	}
	for i := range 10 {
		fmt.Fprintf(&s, "block danger%d\n", i)
	}
	return s.String()
}
