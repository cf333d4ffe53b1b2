package shell

// missingPart names the first word of the pattern that is missing in a command with the same
// program and subcommand: `go test ./pkg` lacks the ./... of `go test ./...`. Without such a
// command it returns no doubt.
func (r *Reading) missingPart(p *Pattern) Doubt {
	begin := 1
	if len(p.operands) > 0 && groups[p.name.text+" "+p.operands[0].text] != nil {
		begin = 2 // npm run lint shares only `npm run` with npm run test
	}
	if len(p.operands) < begin || len(p.operands)+len(p.options) <= begin && !p.exactly {
		return Doubt{}
	}
	for i := range r.commands {
		c := &r.commands[i]
		if is, args := c.is(p); is == Match && !c.possible && p.upTo(begin).found(c, args) == Match {
			advice := "run `" + p.source + "`"
			return Doubt{What: p.missingWord(c, args), Code: r.code(c.from, c.to), At: r.character(c.from), Advice: advice}
		}
	}
	return Doubt{}
}

// upTo returns the pattern with its first n operands and no options.
func (p *Pattern) upTo(operands int) *Pattern {
	q := *p
	q.operands, q.options = p.operands[:operands], nil
	return &q
}

// missingWord names the word of the pattern that the command lacks; if no word is missing, the
// arguments differ.
func (p *Pattern) missingWord(c *command, args []arg) string {
	for n := 2; n <= len(p.operands); n++ {
		if p.upTo(n).found(c, args) != Match {
			return "it has no `" + p.operands[n-1].text + "`"
		}
	}
	for i := range p.options {
		if p.options[i].given(p.known, args) != Match {
			return "it has no `" + p.options[i].text + "`"
		}
	}
	return "it has other arguments"
}
