package starter

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// text returns the proposal as a rules file. Server names appear in comments; they are escaped so
// that they cannot end a comment.
func (p *proposal) text() string {
	var b strings.Builder
	for _, line := range p.head() {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	for _, g := range p.rules {
		if len(g.lines) > 0 {
			fmt.Fprintf(&b, "\n# %s\n%s\n", g.comment, joined(g.lines))
		}
	}
	if len(p.claims.lines) > 0 {
		fmt.Fprintf(&b, "\n# What must always hold, whatever an agent does: petrigate check proves it.\n%s\n", joined(p.claims.lines))
	}
	return b.String()
}

// head returns the comment lines at the beginning of the rules file.
func (p *proposal) head() []string {
	head := []string{
		fmt.Sprintf("A first policy for %s, proposed by petrigate init.", p.serverSummary()),
		"It was guessed from the names, hints and schemas that the servers supply: read it, and change it.",
		"With mode: shadow, it refuses nothing and records the calls that it would refuse or require approval for.",
	}
	meanwhile := "its tools are allowed (default: allow)"
	if p.deny {
		meanwhile = "its tools are refused (default: deny)"
	}
	for _, name := range p.missing {
		head = append(head, fmt.Sprintf("%s did not respond, so no rule here covers it, and %s. Once it responds, petrigate init prints the rules to add.", text.Excerpt(name, 64), meanwhile))
	}
	return head
}

// serverSummary returns a phrase that lists the servers and the number of tools of each server.
func (p *proposal) serverSummary() string {
	var all []string
	for _, s := range p.servers {
		about := text.Excerpt(s.name, 64)
		if s.known != "" && s.known != s.name {
			about += " (" + s.known + ")"
		}
		all = append(all, fmt.Sprintf("%s with %s", about, text.Count(len(s.tools), "tool")))
	}
	return text.And(all)
}

func joined(lines []line) string {
	return strings.Join(list.Map(lines, func(l line) string { return l.text }), "\n")
}

// removeLines removes the lines with the given numbers from the proposal. It splits a line with
// several names into one line per name instead, so that the next verification shows which names are
// problematic. removeLines returns the removed lines and reports whether anything changed.
func (p *proposal) removeLines(numbers map[int]bool) (left []string, again bool) {
	number := len(p.head())
	take := func(s *statementGroup) {
		if len(s.lines) == 0 {
			return
		}
		number += 2
		var kept []line
		for _, l := range s.lines {
			number++
			switch {
			case !numbers[number]:
				kept = append(kept, l)
			case l.perName != nil:
				kept = append(kept, l.perName...)
			default:
				left = append(left, l.text)
			}
			again = again || numbers[number]
		}
		s.lines = kept
	}
	for i := range p.rules {
		take(&p.rules[i])
	}
	take(&p.claims)
	return left, again
}
