package shell

import "slices"

// Runs determines whether the script could run a command matching p. It returns [Match] if any
// command certainly matches p, [Opaque] if there is only a possible match, and [NoMatch] otherwise.
// If the result is Opaque, the Doubt explains why the match is uncertain.
func (r *Reading) Runs(p Pattern) (Outcome, Doubt) {
	found, by := NoMatch, 0
	for i := range r.commands {
		if f := r.commands[i].matches(&p); f.or(found) != found {
			found, by = f.or(found), i
		}
	}
	switch found {
	case Match:
		return Match, Doubt{}
	case Opaque:
		return Opaque, r.mayMatch(&r.commands[by], &p)
	}
	if d, ok := r.possibleDoubt(&p); ok {
		return Opaque, r.exported(d)
	}
	return NoMatch, Doubt{}
}

// possibleDoubt returns the [doubt] that explains why the script might run a command matching p.
// The caller must have checked that no command certainly matches p.
func (r *Reading) possibleDoubt(p *Pattern) (*doubt, bool) {
	if p.name.text == "" {
		return nil, false
	}
	if r.opaque {
		return &r.doubts[slices.IndexFunc(r.doubts, func(d doubt) bool { return d.reach == all })], true
	}
	if of, ok := r.mentions.hasAll(p); ok {
		return &r.doubts[of], true
	}
	if r.strict {
		if of, ok := r.mentions.hasName(p); ok {
			return &r.doubts[of], true
		}
	}
	return nil, false
}

// mayMatch explains in a [Doubt] why it is uncertain whether the command c matches the pattern p.
func (r *Reading) mayMatch(c *command, p *Pattern) Doubt {
	what := "an argument that is not literal"
	switch {
	case c.possible:
		what = "words that may begin a command"
	case !p.name.matches(c.name):
		what = "another name for the program"
	case allLiteral(c.args):
		what = "an argument that may abbreviate another"
	case len(p.operands) > 0 && len(c.args) > 0 && c.args[0].kind != literal:
		what = "a subcommand that is not literal"
	}
	how := advice(what)
	if c.endsOptions(p) {
		how += ", or -- before them"
	}
	return Doubt{What: what, Code: r.code(c.from, c.to), At: r.character(c.from), Advice: how}
}

// endsOptions reports whether the advice should be to write --, as in rm -- "$f". This helps if the
// command c no longer matches the pattern p once -- stands before the first non-literal argument.
func (c *command) endsOptions(p *Pattern) bool {
	i := slices.IndexFunc(c.args, func(a arg) bool { return a.kind != literal })
	if i < 0 || c.possible || !p.name.matches(c.name) {
		return false
	}
	ended := *c
	ended.args = slices.Insert(slices.Clone(c.args), i, arg{text: "--"})
	return ended.matches(p) == NoMatch
}

// missingPart looks for a command that is similar to the pattern. It returns a Doubt that names the
// first word of the pattern that the command lacks. For example, the command `go test ./pkg` lacks
// the word ./... of the pattern `go test ./...`. A command is similar if it has the same program
// and the same first operand, such as the subcommand. If the subcommand has subcommands of its own,
// the second operand must match, too. If no command is similar, or the pattern is too short to
// compare, the Doubt is zero.
func (r *Reading) missingPart(p *Pattern) Doubt {
	begin := 1
	if len(p.operands) > 0 && groups[p.name.text+" "+p.operands[0].text] != nil {
		begin = 2 // two commands that share only `npm run`, such as npm run lint and npm run test, are not similar
	}
	if len(p.operands) < begin || len(p.operands)+len(p.options) <= begin && !p.exactly {
		return Doubt{}
	}
	for i := range r.commands {
		c := &r.commands[i]
		if is, args := c.runsProgram(p); is == Match && !c.possible && p.upTo(begin).hasOperands(c, args) == Match {
			advice := "run `" + p.source + "`"
			return Doubt{What: p.missingWord(c, args), Code: r.code(c.from, c.to), At: r.character(c.from), Advice: advice}
		}
	}
	return Doubt{}
}

// upTo returns a copy of the pattern that contains only the given number of operands, and no
// options.
func (p *Pattern) upTo(operands int) *Pattern {
	q := *p
	q.operands, q.options = p.operands[:operands], nil
	return &q
}

// missingWord explains which word of the pattern the command lacks, as in "it has no `push`". If
// the command has all the words of the pattern, the explanation is "it has other arguments".
func (p *Pattern) missingWord(c *command, args []arg) string {
	for n := 2; n <= len(p.operands); n++ {
		if p.upTo(n).hasOperands(c, args) != Match {
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
