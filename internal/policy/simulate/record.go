package simulate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policytest"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/text"
)

// Record writes the session to a new file as a policy test, and runs the test once to see whether
// it passes. If the session has no steps, it writes no file. The parameters rules and nets list the
// files of the policy; if both are empty, the policy comes from a configuration.
func (m *Simulator) Record(path string, rules, nets []string) error {
	script := m.policyText(filepath.Dir(path), rules, nets) + "tests:\n  - name: recorded\n    steps:\n"
	steps := m.stepsText()
	if len(steps) == 0 {
		m.printf("nothing was done, so nothing is recorded\n")
		return nil
	}
	script += strings.Join(steps, "")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(script)
	if err := cmp.Or(err, file.Close()); err != nil {
		return err
	}
	m.printf("recorded %s in %s\n", text.Count(len(steps), "step"), path)
	return m.checkRecording(path, script)
}

// checkRecording runs the recorded test and prints the first difference from the session, if any.
func (m *Simulator) checkRecording(path, text string) error {
	file, err := policytest.Parse(path, []byte(text))
	if err != nil {
		return err
	}
	loader := policytest.Loader{Call: check.CallsUnder}
	p, err := loader.Load(file)
	if err != nil {
		return err
	}
	if r := p.Run(&file.Tests[0]); r.Failure != nil {
		m.printf("the test differs from the session in step %d: expected %s, got %s\n", len(r.Steps), r.Failure.Expected, r.Failure.Got)
	}
	return nil
}

// policyText returns the lines of the test that list the policy's files. Their paths are relative
// to the test's directory.
func (m *Simulator) policyText(dir string, rules, nets []string) string {
	if m.of.source.Config != nil {
		return fmt.Sprintf("config: %s\n", quote(relativePath(dir, m.of.source.Config.File)))
	}
	return listText("rules", dir, rules) + listText("nets", dir, nets)
}

// listText returns a line with the key and the list of files, or the empty string if the list is
// empty.
func listText(key, dir string, files []string) string {
	if len(files) == 0 {
		return ""
	}
	quoted := list.Map(files, func(file string) string { return quote(relativePath(dir, file)) })
	return fmt.Sprintf("%s: [%s]\n", key, strings.Join(quoted, ", "))
}

// relativePath returns the path of file relative to the directory dir.
func relativePath(dir, file string) string {
	folder, err := filepath.Abs(dir)
	target, err2 := filepath.Abs(file)
	rel, err3 := filepath.Rel(folder, target)
	if err != nil || err2 != nil || err3 != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// quote returns text as a quoted YAML string.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // encoding a string cannot fail
	}
	return string(b)
}

// stepsText returns the steps of a test that repeats the session. A call and the answers to its
// approval request become a single step.
func (m *Simulator) stepsText() []string {
	var steps []string
	at := make(map[int]int) // maps the number of each call to the number of the step that makes it
	for i, mv := range m.moves {
		switch mv.word {
		case "after":
			steps = append(steps, fmt.Sprintf("      - after: %s\n", text.Exact(mv.time)))
		case "call", "approve", "deny":
			if text := m.callText(i); text != "" {
				steps = append(steps, text)
				at[mv.of] = len(steps)
			}
		default:
			if !m.ended(i-1, mv.of) {
				returns := ""
				if mv.says != nil {
					returns = ", returns: " + string(mv.says)
				}
				steps = append(steps, fmt.Sprintf("      - settle: { call: %d, result: %s%s }\n", at[mv.of], sandbox.Outcomes[endings[mv.word].outcome], returns))
			}
		}
	}
	return steps
}

// ended reports whether move i makes or approves the given call. If the next move ends the call,
// the step for move i also contains the outcome.
func (m *Simulator) ended(i, call int) bool {
	return i >= 0 && m.moves[i].of == call && (m.moves[i].word == "call" || m.moves[i].word == "approve")
}

// callText returns the test step for move i, which makes a call or answers its approval request. If
// a later move answers the request, the step for that move makes the call, and callText returns the
// empty string.
func (m *Simulator) callText(i int) string {
	mv := m.moves[i]
	c := m.calls[mv.of-1]
	if m.answered(i+1, mv.of) {
		return ""
	}
	text := "      - call: " + quote(c.written.Tool) + "\n"
	line := func(key, value string) { text += "        " + key + ": " + value + "\n" }
	if c.written.Args != nil {
		line("args", string(c.written.Args))
	}
	switch {
	case mv.word == "approve" && c.state != callWaits:
		line("approve", "true")
	case mv.word == "deny":
		line("approve", "false")
	}
	switch c.state {
	case callWaits:
		line("expect", "ask")
	case callRefused:
		line("expect", "refuse")
	}
	if c.refusal != nil && len(c.refusal.Blocks) > 0 {
		b := c.refusal.Blocks[0]
		line("reason", quote(b.Reason))
		line("rule", quote(b.Net))
	}
	if c.state == callRuns || c.state == callEnded {
		if c.would != nil {
			line("would", sandbox.VerdictOf(c.would))
		}
		if result := m.result(i, mv.of); result != "success" {
			line("result", result)
		} else if says := m.moves[i+1].says; says != nil {
			line("returns", string(says))
		}
	}
	return text
}

// answered reports whether move i or a later one answers the call's approval request.
func (m *Simulator) answered(i, call int) bool {
	return slices.ContainsFunc(m.moves[i:], func(mv move) bool { return mv.of == call && (mv.word == "approve" || mv.word == "deny") })
}

// result returns the outcome of the call if move i+1 ends it, and "pending" otherwise.
func (m *Simulator) result(i, call int) string {
	if i+1 < len(m.moves) && m.moves[i+1].of == call {
		if end, ok := endings[m.moves[i+1].word]; ok {
			return sandbox.Outcomes[end.outcome]
		}
	}
	return "pending"
}
