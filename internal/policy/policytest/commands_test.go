package policytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const commandVectors = "../testdata/vectors/commands/"

// otherwise lists the vectors that are deliberately decided differently, with the reasons.
var otherwise = map[string]string{
	"1.A45":  "it writes to a file",
	"1.A50":  "it writes to a file",
	"2.P3.4": "a regular expression finds what the script says, and no glob",
	"3.S82":  "that git branch -dh shows its help is in no table",
}

// TestCommandVectors checks that each case is decided as people expect.
func TestCommandVectors(t *testing.T) {
	for _, line := range vectorLines(t, commandVectors+"commands.jsonl") {
		var v struct {
			Case   json.RawMessage
			Expect string
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		name := vectorName(t, line)
		got := lastDecision(t, v.Case)
		switch reason := otherwise[name]; {
		case reason == "" && got != v.Expect:
			t.Errorf("%s: %s, want %s", name, got, v.Expect)
		case reason != "" && got == v.Expect:
			t.Errorf("%s: it is %s, take it off the list", name, got)
		}
	}
}

// lastDecision returns the decision about the last event in a case.
func lastDecision(t *testing.T, event any) string {
	t.Helper()
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := Eval(bytes.NewReader(append(text, '\n')), &out); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Errors    json.RawMessage
		Decisions []struct{ Decision string }
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || len(answer.Decisions) == 0 {
		return "errors: " + out.String()
	}
	return answer.Decisions[len(answer.Decisions)-1].Decision
}

// bash returns a call of a shell.
func bash(id, command string) map[string]any {
	return map[string]any{"type": "call", "id": id, "tool": "bash", "args": map[string]string{"command": command}, "approve": "wait"}
}

// mostDisturbed is the maximum number of everyday commands that a rule may refuse or ask about.
const mostDisturbed = 2

// TestEverydayVectors counts the everyday commands that are affected by a rule about another
// command.
func TestEverydayVectors(t *testing.T) {
	var commands []string
	readVectors(t, "everyday.json", &commands)
	all := 0
	for _, rules := range []string{
		"map bash.command runs git push --force as d\nblock d",
		"map bash.command runs rm -rf as d\nblock d",
		"map bash.command runs git push as d\nrequire human-approval before d",
		"map bash.command runs terraform destroy as d\nblock d",
	} {
		disturbed := 0
		for _, c := range commands {
			if got := lastDecision(t, map[string]any{"rules": rules, "events": []any{bash("", c)}}); got != "allow" {
				disturbed++
				t.Logf("%s: %q: %s", rules, c, got)
			}
		}
		if disturbed > mostDisturbed {
			t.Errorf("%s: %d of %d commands are disturbed", rules, disturbed, len(commands))
		}
		all += disturbed
	}
	saysPage(t, fmt.Sprintf("For %d commands that developers and agents type every day", len(commands)))
	saysPage(t, fmt.Sprintf("cause %d false alarms.", all))
}

// mostMissed is the maximum number of ways to run tests that do not count as evidence.
const mostMissed = 3

// TestEvidenceVectors checks which scripts prove through their success that the tests passed.
func TestEvidenceVectors(t *testing.T) {
	var v struct {
		Maps  []string
		Forms [][2]any
	}
	readVectors(t, "evidence.json", &v)
	var rules strings.Builder
	for _, m := range v.Maps {
		fmt.Fprintf(&rules, "map bash.command runs %s as test\n", m)
	}
	rules.WriteString("require test before push\n")
	var missed []string
	count := 0
	for _, form := range v.Forms {
		script, counts := form[0].(string), form[1].(bool)
		if counts {
			count++
		}
		events := []any{bash("1", script), map[string]any{"type": "result", "id": "1", "outcome": "success"}, map[string]any{"type": "call", "tool": "push"}}
		switch got := lastDecision(t, map[string]any{"rules": rules.String(), "events": events}); {
		case got == "allow" && !counts:
			t.Errorf("%q counts as a test that passed", script)
		case got != "allow" && counts:
			missed = append(missed, script)
		}
	}
	if len(missed) == 0 {
		saysPage(t, fmt.Sprintf("Of %d forms of test commands, all %d that should count do", len(v.Forms), count))
	}
	if len(missed) > mostMissed {
		t.Errorf("%d forms do not count: %q", len(missed), slices.Clip(missed))
	}
}

// saysPage checks a figure in docs/shell.md.
func saysPage(t *testing.T, sentence string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/shell.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), sentence) {
		t.Errorf("docs/shell.md does not say %q", sentence)
	}
}

func readVectors(t *testing.T, name string, to any) {
	t.Helper()
	src, err := os.ReadFile(commandVectors + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, to); err != nil {
		t.Fatal(err)
	}
}
