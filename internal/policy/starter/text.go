package starter

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// text writes the proposal as a file of rules. Comments hold no line break that a server could
// have put into a name.
func (p *proposal) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A first policy for %s, proposed by petrigate init.\n", p.about())
	b.WriteString("# It was guessed from names, hints and schemas, which are the words of the servers: read it, and change it.\n")
	b.WriteString("# With mode: shadow it refuses nothing, and records what it would refuse or ask.\n")
	for _, g := range p.rules {
		if len(g.lines) > 0 {
			fmt.Fprintf(&b, "\n# %s\n%s\n", g.comment, strings.Join(g.lines, "\n"))
		}
	}
	if len(p.claims.lines) > 0 {
		fmt.Fprintf(&b, "\n# What must hold of all of it, whatever an agent does: petrigate check proves it.\n%s\n", strings.Join(p.claims.lines, "\n"))
	}
	return b.String()
}

// about names the servers, and what is known of them.
func (p *proposal) about() string {
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

// leave takes the lines with these numbers out, counted as in text, and returns them.
func (p *proposal) leave(numbers map[int]bool) (left []string) {
	number := 3
	take := func(s *statements) {
		if len(s.lines) == 0 {
			return
		}
		number += 2
		var kept []string
		for _, line := range s.lines {
			if number++; numbers[number] {
				left = append(left, line)
			} else {
				kept = append(kept, line)
			}
		}
		s.lines = kept
	}
	for i := range p.rules {
		take(&p.rules[i])
	}
	take(&p.claims)
	return left
}
