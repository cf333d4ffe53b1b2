package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An agentStep is a call that an agent makes under the policy proposed by petrigate init, with the
// expected result.
type agentStep struct {
	call    string
	refused string // part of the refusal that the model receives; empty if the call passes
	asks    bool   // whether a person is asked; the person denies a call that is refused
}

// refusal finds the refusal that the model received for a call that did not pass.
var refusal = regexp.MustCompile(`\(push\) requires a |A person denied `)

// heredocCommit is a commit as agents write it. Its message contains a command that would require
// an approval.
const heredocCommit = "git add -A && git commit -q -m \"$(cat <<'EOF'\nAsk for one page at a time\n\nNo git push --force was needed, and no rm -rf.\n\nCo-Authored-By: Agent <noreply@example.com>\nEOF\n)\""

// policySteps returns the steps for an agent whose hooks report how a script ended, or for one
// whose hooks do not.
func (s *agentSite) policySteps() []agentStep {
	asked := []agentStep{
		{call: heredocCommit},
		{call: "git push --force -q origin HEAD:main", refused: "Not today.", asks: true},
		{call: "cat .env | head -1", refused: "Not today.", asks: true},
		{call: "rm -rf build", refused: "Not today.", asks: true},
	}
	if !s.reports {
		return append([]agentStep{{call: "npm test"}, {call: "git push -q origin HEAD:main", asks: true}}, asked...)
	}
	return append([]agentStep{
		{call: "npm test 2>&1 | tail -3"},
		{call: "git push -q origin HEAD:first", refused: "set -o pipefail; npm test 2>&1 | tail -3"},
		{call: "npm test"},
		{call: "git push -q origin HEAD:main"},
		{call: strings.ReplaceAll(s.edit, "WORK", s.work)},
		{call: "git push -q origin HEAD:second", refused: "(push) requires a successful call to tests since"},
		{call: "npm test -- --fail || exit 1"},
		{call: "git push -q origin HEAD:third", refused: "(push) requires a successful call to tests since"},
		{call: "npm test"},
	}, append(asked[:1:1], append([]agentStep{{call: "git push -q origin HEAD:main"}}, asked[1:]...)...)...)
}

// TestAgentsPolicy follows docs/first-policy.md with real agents, from petrigate init to a policy
// that is enforced.
func TestAgentsPolicy(t *testing.T) {
	eachAgent(t, func(t *testing.T, s *agentSite) {
		if s.http {
			t.Skip("it is the same agent")
		}
		s.governed()
		s.run([]string{"git push -q origin HEAD:shadow"})
		if enforced := s.ourselves("enforce", "--yes"); !s.has("shadow") || !strings.Contains(enforced, "push") {
			t.Errorf("the push in shadow did not pass, or is not shown: %s", enforced)
		}
		answered := s.answer()
		steps := s.policySteps()
		s.take(steps)
		var want []string
		for _, step := range steps {
			if step.asks {
				want = append(want, step.call)
			}
		}
		if got := answered(); !slices.Equal(got, want) {
			t.Errorf("a person was asked about %q, want %q", got, want)
		}
		for branch, pushed := range map[string]bool{"main": true, "first": false, "second": false, "third": false} {
			if s.has(branch) != pushed {
				t.Errorf("pushed %s: %v", branch, !pushed)
			}
		}
	})
}

// governed creates a project, lets petrigate init propose a policy in shadow mode for the agent,
// and starts a proxy.
func (s *agentSite) governed() {
	s.t.Helper()
	s.project()
	s.config = filepath.Join(s.home, ".config", "petrigate", "petrigate.yaml")
	s.ourselves("init", s.name, "--yes")
	s.ourselves("connect", s.name, "--hooks", "--yes")
	start(s.t, endpoint{Command: s.petrigate, Args: []string{"serve", "--http", "127.0.0.1:" + s.port, "--config", s.config}, Env: s.env}, s.port)
}

// take lets the agent make the calls in steps, and compares what the model receives with the
// expected results.
func (s *agentSite) take(steps []agentStep) {
	s.t.Helper()
	var turns [][]string
	for _, step := range steps {
		turns = append(turns, []string{step.call})
	}
	_, requests := s.run(turns...)
	for i, step := range steps {
		told := strings.Count(requests[i+1], step.refused) > strings.Count(requests[i], step.refused)
		refusals := len(refusal.FindAllString(requests[i+1], -1)) - len(refusal.FindAllString(requests[i], -1))
		if step.refused != "" && !told || (step.refused == "") != (refusals == 0) {
			s.t.Errorf("%s: the model is told\n%s", step.call, further(requests[i], requests[i+1]))
		}
	}
}

// further returns the part of a request that the previous request did not contain.
func further(before, after string) string {
	start, end := 0, 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return after[start : len(after)-end]
}

// project turns the agent's directory into a project with tests and a remote repository.
func (s *agentSite) project() {
	s.t.Helper()
	for name, content := range map[string]string{
		"package.json": `{ "scripts": { "test": "node test.js" } }`, "test.js": `process.exit(process.argv.includes("--fail") ? 1 : 0)`,
		".env": "KEY=1\n", ".gitignore": ".env\n", "build/out": "",
	} {
		s.write("work/"+name, content)
	}
	s.git("init", "-q", "--bare", filepath.Join(s.home, "remote.git"))
	s.git("init", "-q")
	s.git("config", "user.name", "Ann")
	s.git("config", "user.email", "ann@example.com")
	s.git("remote", "add", "origin", filepath.Join(s.home, "remote.git"))
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "Begin")
}

func (s *agentSite) git(args ...string) {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), "git", args...)
	c.Dir, c.Env = s.work, list(s.env)
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// has reports whether the remote repository has the branch.
func (s *agentSite) has(branch string) bool {
	_, err := os.Stat(filepath.Join(s.home, "remote.git", "refs", "heads", branch))
	return err == nil
}

// answer simulates a person who approves each push that is not forced and denies everything else.
// The returned function stops this, and returns the scripts that the person was asked about.
func (s *agentSite) answer() func() []string {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	watch := exec.CommandContext(ctx, s.petrigate, "approvals", "watch", "--json")
	watch.Env = list(s.env)
	out, err := watch.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		s.t.Fatal(err)
	}
	var asked []string
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var line struct {
				Approval struct {
					ID, State string
					Arguments struct{ Command string }
				}
			}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				s.t.Errorf("%s: %v", lines.Text(), err)
			}
			if line.Approval.State != "pending" {
				continue
			}
			command := line.Approval.Arguments.Command
			asked = append(asked, command)
			args := []string{"approvals", "deny", line.Approval.ID, "--reason", "Not today."}
			if strings.HasPrefix(command, "git push -q") {
				args = []string{"approvals", "approve", line.Approval.ID, "--yes"}
			}
			c := exec.CommandContext(ctx, s.petrigate, args...)
			c.Env = list(s.env)
			if out, err := c.CombinedOutput(); err != nil {
				s.t.Errorf("petrigate %q: %v\n%s", args, err, out)
			}
		}
	}()
	return func() []string {
		stop()
		<-ended
		_ = watch.Wait()
		return asked
	}
}
