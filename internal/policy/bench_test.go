package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
)

// commands are the commands that an agent that operates a system runs with a single tool.
var commands = []string{"git push", "git commit", "git reset", "git clean", "npm publish", "npm install", "docker push", "docker rm",
	"kubectl apply", "kubectl delete", "terraform apply", "terraform destroy", "rm", "mv", "cp", "chmod", "chown", "curl", "wget", "ssh",
	"scp", "rsync", "systemctl restart", "systemctl stop", "psql", "mysql", "redis-cli", "aws s3", "gcloud compute", "az vm"}

// operator returns a policy with maps and rules for a single tool. how determines the kind of the
// maps.
func operator(maps, statements int, how func(command string) string) string {
	var b strings.Builder
	for i := range maps {
		fmt.Fprintf(&b, "map bash.command %s as op-%d\n", how(commands[i%len(commands)]), i)
	}
	for i := range statements {
		a, c := i%maps, (i*7+3)%maps
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "limit op-%d to %d per session\n", a, 3+i)
		case 1:
			fmt.Fprintf(&b, "require op-%d before op-%d\n", a, c)
		case 2:
			fmt.Fprintf(&b, "require human-approval before op-%d\n", a)
		default:
			fmt.Fprintf(&b, "block op-%d\n", c)
		}
	}
	return b.String()
}

func word(command string) string { return command[strings.LastIndexByte(command, ' ')+1:] }

func regex(command string) string { return "/" + strings.ReplaceAll(command, " ", `\s+`) + "/" }

func runs(command string) string { return "runs " + command }

var operators = []struct {
	name string
	how  func(string) string
}{{"words", word}, {"regexes", regex}, {"runs", runs}}

func buildRules(tb testing.TB, text string) *Result {
	tb.Helper()
	r, err := Build(Source{Rules: []config.RuleText{{File: "operator.rules", Text: text}}})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// BenchmarkLoadOperator measures loading 50 maps and 56 rules for the same tool, and loading the
// largest expected policies.
func BenchmarkLoadOperator(b *testing.B) {
	for _, o := range operators {
		for _, size := range [][2]int{{50, 56}, {10_000, 10_000}} {
			text := operator(size[0], size[1], o.how)
			b.Run(fmt.Sprintf("%s/%d", o.name, size[0]), func(b *testing.B) {
				for b.Loop() {
					buildRules(b, text)
				}
			})
		}
	}
}

// BenchmarkDecideOperator measures decisions with 50 maps and 56 rules for the same tool, for a
// command that no map matches and for a command of 10 MB.
func BenchmarkDecideOperator(b *testing.B) {
	for _, o := range operators {
		s := gate.NewSession(buildRules(b, operator(50, 56, o.how)).Policy, gate.SessionOptions{})
		for _, c := range []struct{ name, command string }{
			{"short", "ls -l src"}, {"10MB", strings.Repeat("ls -l src; ", 10<<20/11)},
		} {
			call := gate.Call{Tool: "bash", Args: []byte(`{"command":"` + c.command + `"}`)}
			b.Run(o.name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if a, ok := s.Decide(call, nil).(*gate.Allow); ok {
						a.Ticket.Settle(gate.Success)
					}
				}
			})
		}
	}
}

// BenchmarkWorstCall measures decisions with 20 maps that look for commands, for the slowest calls
// of 1 MiB.
func BenchmarkWorstCall(b *testing.B) {
	fill := func(unit string) string { return strings.Repeat(unit, 1<<20/len(unit)) }
	for name, value := range map[string]any{
		"unknown programs": fill(`zz 'a"b' \c;`),
		"commands":         fill("ls a;"),
		"bound":            strings.Repeat("a;", 12_000),
		"words":            strings.Repeat("ls -a -b ", 2700),
		"nested":           fill("$(a "),
		"text":             "cat <<'E'\n" + fill("some text\n") + "E\n",
		"a long word":      fill("a"),
		"other letters":    fill("\u00e9"),
		"other words":      fill("\u00e9 "),
		"lines":            fill("a\n"),
		"quotes":           fill(`"$x"`),
		"escapes":          fill(`\a`),
		"one quote":        "echo '" + fill("x"),
		"array":            strings.Split(fill("a, "), ", "),
		"array of scripts": strings.Split(fill("sh -c 'rm a', "), ", "),
		"object":           map[string]string{"a": fill("ls a;")},
	} {
		args, err := json.Marshal(map[string]any{"command": value})
		if err != nil {
			b.Fatal(err)
		}
		s := gate.NewSession(buildRules(b, operator(20, 20, runs)).Policy, gate.SessionOptions{})
		call := gate.Call{Tool: "bash", Args: args}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if a, ok := s.Decide(call, nil).(*gate.Allow); ok {
					a.Ticket.Settle(gate.Success)
				}
			}
		})
	}
}
