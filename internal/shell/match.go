package shell

import (
	"path"
	"slices"
	"strings"
)

// matches reports whether the pattern p describes the command.
func (c *command) matches(p *Pattern) Outcome {
	best, args := c.runsProgram(p)
	if best == NoMatch {
		return NoMatch
	}
	if c.possible {
		best = Opaque
	}
	switch {
	case !p.exactly:
	case !allLiteral(args):
		best = Opaque
	case !c.inert(p):
		return NoMatch
	}
	best = best.and(p.hasOperands(c, args))
	if table := subcommandsOf(p.name.text); table != nil && best != NoMatch && len(p.options) > 0 {
		args = table.beside(args, p.options)
	}
	for i := range p.options {
		if best == NoMatch {
			break
		}
		best = best.and(p.options[i].given(p.known, args))
	}
	if best != NoMatch && !p.any && !p.isDryRun() && c.changesNothing() {
		return NoMatch
	}
	return best
}

// mayBeSplit reports whether an argument before the subcommand may expand to several words. One of
// these words may then be the actual subcommand.
func (c *command) mayBeSplit() bool {
	table := subcommandsOf(c.name)
	if table == nil {
		return false
	}
	_, rest, _ := table.next(c.args)
	return slices.ContainsFunc(c.args[:len(c.args)-len(rest)], func(a arg) bool { return a.split })
}

// runsProgram reports whether the command runs the program that the pattern names, possibly under
// another name. It also returns the arguments that the command would have under the name in the
// pattern. For `docker-compose up` and the name docker, these are `compose up`.
func (c *command) runsProgram(p *Pattern) (Outcome, []arg) {
	switch {
	case p.name.text == "":
		return NoMatch, nil
	case p.name.glob && strings.Contains(p.name.text, "/"):
		if c.path != "" && matchStar(p.name.text, c.path) || c.path == "" && p.name.matches(c.name) {
			return Match, c.args
		}
		return NoMatch, nil
	case p.name.matches(c.name), sameProgram(c.name, p.name.text):
		return Match, c.args
	}
	if args := c.argsUnder(p.name.text); args != nil {
		return Opaque, args
	}
	return NoMatch, nil
}

// hasOperands reports whether args, the arguments of the command, contain the pattern's operands in
// the same order. If the program has subcommands, the pattern's first operand must match the
// subcommand. If that subcommand has subcommands of its own, such as add in git remote add, the
// pattern's second operand must match, too.
func (p *Pattern) hasOperands(c *command, args []arg) Outcome {
	if len(p.operands) == 0 {
		return Match
	}
	at := 0
	if table := subcommandsOf(p.name.text); table != nil {
		sub, rest, sure := table.next(args)
		if sub == nil {
			return NoMatch
		}
		first := p.matchesOperand(0, *sub)
		if isEquivalent(p, *sub, rest) {
			first = Match
		}
		switch {
		case !sure && first == NoMatch:
			return p.hasInOrder(c, args, 0).and(Opaque) // the operand may be the value of an option
		case first == NoMatch:
			return NoMatch
		case first == Opaque || !sure:
			return p.hasInOrder(c, rest, 1).and(Opaque)
		}
		args, at = rest, 1
		if group := groups[p.name.text+" "+sub.text]; group != nil && len(p.operands) > 1 {
			second, rest, sure := group().next(args)
			if second == nil {
				return NoMatch
			}
			switch found := p.matchesOperand(1, *second); {
			case sure && found == NoMatch:
				return NoMatch
			case sure && found == Match:
				args, at = rest, 2
			}
		}
	}
	return p.hasInOrder(c, args, at)
}

// matchesOperand reports whether the argument a matches p.operands[n].
func (p *Pattern) matchesOperand(n int, a arg) Outcome {
	w := &p.operands[n]
	switch {
	case a.kind == literal && (w.matches(a.text) || isAlias(p, a.text, n)):
		return Match
	case a.kind == literal && isAbbreviation(p, a.text, n), a.kind != literal && a.mayMatch(w):
		return Opaque
	}
	return NoMatch
}

// hasInOrder reports whether the command contains the pattern's operands, beginning with
// p.operands[first], in the same order. It searches args first, and then the names of the files
// that are redirected to the command's standard input.
func (p *Pattern) hasInOrder(c *command, args []arg, first int) Outcome {
	sure, may := first, first // how many of the pattern's operands were certainly found, and how many may have been found
	files := subcommandsOf(p.name.text) == nil
	for _, list := range [...][]arg{args, c.inputs} {
		for _, a := range list {
			if sure < len(p.operands) && a.kind == literal && (p.matchesOperand(sure, a) == Match || files && p.operands[sure].isFile(a.text)) {
				sure++
			}
			may = p.advance(a, may, files)
		}
	}
	switch {
	case may < len(p.operands):
		return NoMatch
	case sure < len(p.operands):
		return Opaque
	}
	return Match
}

// advance performs one step of a search for the pattern's operands among a command's arguments.
// Before this step, n operands may have been found, in the order of the pattern. advance examines
// the argument a and returns the new number. If files is true, an operand that is a file name also
// matches longer paths to that file.
func (p *Pattern) advance(a arg, n int, files bool) int {
	switch {
	case n == len(p.operands):
		return n
	case a.kind == anything:
		return len(p.operands)
	case a.kind == spread:
		for n < len(p.operands) && a.mayMatch(&p.operands[n]) {
			n++
		}
	case p.matchesOperand(n, a) != NoMatch || files && a.kind == literal && p.operands[n].isFile(a.text):
		n++
	}
	return n
}

// isFile reports whether the given path is a longer path to the file that the word names. For
// example, ./x.sh and dir/x.sh are longer paths to x.sh.
func (w *word) isFile(at string) bool {
	if !strings.ContainsAny(w.text, "./") || len(at) <= len(w.text) || strings.HasPrefix(at, "-") {
		return false
	}
	clean := path.Clean(at)
	if strings.Contains(w.text, "/") {
		return w.matches(clean) || strings.HasSuffix(clean, "/"+w.text)
	}
	return w.matches(path.Base(clean))
}

// inert reports whether the command, which matches the pattern p, does exactly what its name says.
// For a program in the tables, the command's operands must begin with the pattern's operands, and
// the table must allow all other operands and options. For any other program, the command must have
// exactly the arguments in the pattern.
func (c *command) inert(p *Pattern) bool {
	args, _ := c.plainArgs()
	known, options, lead, ok := programOf(c.name, args)
	if !ok {
		return len(args) == len(p.words) && startsWith(args, p.words)
	}
	given, operands, ok := options.splitOptions(args[lead:], true)
	if !ok {
		return false
	}
	if slices.ContainsFunc(given, func(o givenOption) bool { return !o.inert() && !p.names(o) }) {
		return false
	}
	operands = append(args[:lead:lead], operands...)
	return p.leads(operands) && known.operands.allowAll(operands[max(lead, len(p.operands)):])
}

// plainArgs returns the arguments without git's global options, which precede the subcommand, as in
// git -C DIR status. If it finds a global option that is not in locationOptions, it returns all
// arguments and false, because the option may make git run a command.
func (c *command) plainArgs() (args []arg, ok bool) {
	if c.name != "git" || len(c.args) == 0 || !strings.HasPrefix(c.args[0].text, "-") {
		return c.args, true
	}
	found, rest, ok := gitOptions().splitLeading(c.args)
	if !ok || slices.ContainsFunc(found, func(o givenOption) bool { return !locationOptions[o.name] }) {
		return c.args, false
	}
	return rest, true
}

// locationOptions lists the git options that affect only where git works, how it prints, how it
// reads paths, and whether it takes optional locks.
var locationOptions = setOf("C P no-pager git-dir work-tree no-optional-locks literal-pathspecs")

// names reports whether the pattern itself contains the option.
func (p *Pattern) names(o givenOption) bool {
	return slices.ContainsFunc(p.options, func(w wanted) bool {
		return o.known != nil && w.is(o.known) && (!w.with || o.set && o.value.kind == literal && o.value.text == w.value)
	})
}

// leads reports whether args certainly begin with the pattern's operands.
func (p *Pattern) leads(args []arg) bool {
	if len(args) < len(p.operands) {
		return false
	}
	for i := range p.operands {
		if p.matchesOperand(i, args[i]) != Match {
			return false
		}
	}
	return true
}
