package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// A teller shows a person what happens, in colour on a terminal.
type teller struct {
	w      io.Writer
	colour bool
}

func newTeller(w io.Writer) *teller {
	return &teller{w: w, colour: isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// A demoTally counts the calls of the agent by what came of them.
type demoTally map[demoOutcome]int

func (t demoTally) ran() int { return t[demoPassed] + t[demoFailed] }

// Styles of a terminal.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (t *teller) in(style, text string) string {
	if !t.colour {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func (t *teller) line(format string, args ...any) { _, _ = fmt.Fprintf(t.w, format+"\n", args...) }

// block writes a text with something before each of its lines.
func (t *teller) block(before, style, text string) {
	for line := range strings.Lines(text) {
		t.line("%s%s", before, t.in(style, strings.TrimRight(line, "\n")))
	}
}

func (t *teller) opening(rules, net string) {
	t.line("%s", t.in(bold, "A scripted agent works through petrigate, on a real proxy and a real MCP server."))
	t.line("\nThe rules (demo.rules):\n")
	t.block("    ", cyan, rules)
	t.line("\nand a workflow, written as a Petri net (demo.net.yaml):\n")
	t.block("    ", cyan, net)
}

// tell plays the story. It stops at the first reply that is not as expected.
func (t *teller) tell(a *demoAgent, story []demoChapter) (demoTally, error) {
	tally := demoTally{}
	for i, chapter := range story {
		t.line("\n%s\n", t.in(bold, fmt.Sprintf("%d. %s", i+1, chapter.title)))
		for _, step := range chapter.steps {
			if err := t.play(a, step); err != nil {
				return tally, err
			}
			tally[step.want]++
		}
	}
	return tally, nil
}

func (t *teller) play(a *demoAgent, step demoStep) error {
	if step.note != "" {
		t.line("\n    %s", t.in(faint, step.note))
	}
	t.line("  > %s %s", step.tool, step.args)
	asked := 0
	a.person = func(question string, choices []string) demoAnswer {
		asked++
		t.question(question, choices, step.answer)
		return step.answer
	}
	reply, err := step.play(a)
	if err != nil {
		return err
	}
	if wanted := step.answer.Decision != ""; wanted != (asked == 1) {
		return fmt.Errorf("%s %s: the person was asked %d times", step.tool, step.args, asked)
	}
	style := map[demoOutcome]string{demoPassed: green, demoFailed: yellow, demoRefused: red}[reply.outcome()]
	t.line("    %s  %s", t.in(style, fmt.Sprintf("%-7s", reply.outcome())), strings.ReplaceAll(reply.text, "\n", "\n             "))
	return nil
}

// question shows what the client of the agent shows its person.
func (t *teller) question(text string, choices []string, answer demoAnswer) {
	t.line("    The person sees:")
	t.block("      | ", "", text)
	t.line("      | [%s]", strings.Join(choices, "] ["))
	said := answer.Decision
	if answer.Reason != "" {
		said += fmt.Sprintf(" (%q)", answer.Reason)
	}
	t.line("    The person answers: %s", t.in(bold, said))
}

// ending holds the calls that were made against what others saw of them.
func (t *teller) ending(made demoTally, seen demoSeen) error {
	if seen.allowed != made.ran() || seen.executed != made.ran() || seen.refused != made[demoRefused] {
		return fmt.Errorf("%d calls ran and %d were refused, but the audit log has %d and %d, and %d reached the server",
			made.ran(), made[demoRefused], seen.allowed, seen.refused, seen.executed)
	}
	t.line("\n%s", t.in(bold, "The end"))
	t.line("\n  %d calls, %d refused. The server saw %d of them; the audit log has all %d.", made.ran()+made[demoRefused], seen.refused, seen.executed, seen.allowed+seen.refused)
	t.line("\n  Next: gate a server of yours with a file of rules,")
	t.line("    petrigate wrap --rules my.rules -- npx -y @modelcontextprotocol/server-filesystem /some/folder")
	t.line("  and read README.md: clients, the rules on one screen, and what is not enforced. examples/ has more.")
	return nil
}
