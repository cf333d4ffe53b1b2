package demo

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A printer plays the script of the demo and prints what happens.
type printer struct {
	w   io.Writer
	ink text.Ink
}

// counts holds the numbers of calls, keyed by outcome.
type counts map[outcome]int

func (t counts) executed() int { return t[passed] + t[failed] }

func (p *printer) line(format string, args ...any) { _, _ = fmt.Fprintf(p.w, format+"\n", args...) }

// block prints the lines of content in the given style, each with the given prefix.
func (p *printer) block(prefix, style, content string) {
	for line := range strings.Lines(content) {
		p.line("%s%s", prefix, p.ink.In(style, strings.TrimRight(line, "\n")))
	}
}

func (p *printer) opening(rules, net string) {
	p.line("%s", p.ink.In(text.Bold, "A scripted agent works through petrigate, on a real proxy and a real MCP server."))
	p.line("\nThe rules (demo.rules):\n")
	p.block("    ", text.Cyan, rules)
	p.line("\nand a workflow, written as a Petri net (demo.net.yaml):\n")
	p.block("    ", text.Cyan, net)
}

// play makes the calls of all sections in order and counts them. It stops at the first unexpected
// reply.
func (p *printer) play(ctx context.Context, a *agent, chapters []section) (counts, error) {
	made := counts{}
	for i, c := range chapters {
		p.line("\n%s\n", p.ink.In(text.Bold, fmt.Sprintf("%d. %s", i+1, c.title)))
		for _, s := range c.steps {
			if err := p.playStep(ctx, a, s); err != nil {
				return made, err
			}
			made[s.want]++
		}
	}
	return made, nil
}

// playStep makes the call of a step and checks the reply. It also checks that the person was asked
// a question if, and only if, the step expects one.
func (p *printer) playStep(ctx context.Context, a *agent, s step) error {
	if s.note != "" {
		p.line("\n    %s", p.ink.In(text.Faint, s.note))
	}
	p.line("  > %s %s", s.tool, s.args)
	asked := 0
	a.person = func(question string, choices []string) answer {
		asked++
		p.question(question, choices, s.answer)
		return s.answer
	}
	r, err := a.call(ctx, s.tool, s.args)
	if err == nil && (r.outcome != s.want || !strings.Contains(r.text, s.text)) {
		err = fmt.Errorf("%s %s: expected %s with %q, got %s with %q", s.tool, s.args, s.want, s.text, r.outcome, r.text)
	}
	want := 0
	if s.answer.Decision != "" {
		want = 1
	}
	if asked != want && (err == nil || asked > 0) {
		return fmt.Errorf("%s %s: the person was asked %d times", s.tool, s.args, asked)
	}
	if err != nil {
		return err
	}
	style := map[outcome]string{passed: text.Green, failed: text.Yellow, refused: text.Red}[r.outcome]
	p.line("    %s  %s", p.ink.In(style, fmt.Sprintf("%-7s", r.outcome)), strings.ReplaceAll(r.text, "\n", "\n             "))
	return nil
}

// question prints a question as the agent's client would show it, and the answer of the scripted
// person.
func (p *printer) question(question string, choices []string, said answer) {
	p.line("    The person sees:")
	p.block("      | ", "", question)
	p.line("      | [%s]", strings.Join(choices, "] ["))
	shown := said.Decision
	if said.Reason != "" {
		shown += fmt.Sprintf(" (%q)", said.Reason)
	}
	p.line("    The person answers: %s", p.ink.In(text.Bold, shown))
}

// ending compares the agent's calls with the logs of the proxy and the server, and prints a
// summary.
func (p *printer) ending(made counts, seen records) error {
	if seen.allowed != made.executed() || seen.executed != made.executed() || seen.refused != made[refused] {
		return fmt.Errorf("%d calls ran and %d were refused, but the audit log has %d and %d, and %d reached the server",
			made.executed(), made[refused], seen.allowed, seen.refused, seen.executed)
	}
	p.line("\n%s", p.ink.In(text.Bold, "The end"))
	p.line("\n  %d calls, %d refused. The server saw %d of them; the audit log has all %d.", made.executed()+made[refused], seen.refused, seen.executed, seen.allowed+seen.refused)
	p.line("\n  Next: gate your own server with a rules file,")
	p.line("    petrigate wrap --rules my.rules -- npx -y @modelcontextprotocol/server-filesystem /some/folder")
	p.line("  and read README.md: five minutes with rules and clients, and what is not enforced. docs/ and examples/ have more.")
	return nil
}
