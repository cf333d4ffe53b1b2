package shell

import (
	"path"
	"slices"
	"strings"
)

// Runs answers the first question: could the script run what p describes? The answer is [Match] if
// one of its commands certainly matches p, [Opaque] if only an uncertain match is possible, and
// [NoMatch] if no match is possible as far as the script tells. For Opaque, the Doubt has the
// reason.
func (r *Reading) Runs(p Pattern) (Outcome, Doubt) {
	found, by := NoMatch, 0
	for i := range r.commands {
		if f := r.commands[i].matches(&p); f.or(found) != found {
			found, by = f.or(found), i
		}
	}
	return r.runs(&p, found, by)
}

// runs returns the answer for p: found is the best outcome of all commands, and by the first
// command with it.
func (r *Reading) runs(p *Pattern, found Outcome, by int) (Outcome, Doubt) {
	switch found {
	case Match:
		return Match, Doubt{}
	case Opaque:
		return Opaque, r.mayMatch(&r.commands[by], p)
	}
	if d, ok := r.possibleDoubt(p); ok {
		return Opaque, r.exported(d)
	}
	return NoMatch, Doubt{}
}

// possibleDoubt returns the doubt that makes p possible although no command matches it.
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
		if of, ok := r.mentions.named(p); ok {
			return &r.doubts[of], true
		}
	}
	return nil, false
}

// mayMatch returns the doubt about a command that may match p.
func (r *Reading) mayMatch(c *command, p *Pattern) Doubt {
	what := "an argument that is not literal"
	switch {
	case c.possible:
		what = "words that may begin a command"
	case !p.name.is(c.name):
		what = "another name of the program"
	case !slices.ContainsFunc(c.args, func(a arg) bool { return a.kind != literal }):
		what = "an argument that may be short for another"
	case len(p.operands) > 0 && len(c.args) > 0 && c.args[0].kind != literal:
		what = "a subcommand that is not literal"
	}
	how := advice(what)
	if c.endsOptions(p) {
		how += ", or -- before them"
	}
	return Doubt{What: what, Code: r.code(c.from, c.to), At: r.character(c.from), Advice: how}
}

// endsOptions reports whether -- before the first argument that is not literal would rule out p: rm
// -- "$f".
func (c *command) endsOptions(p *Pattern) bool {
	i := slices.IndexFunc(c.args, func(a arg) bool { return a.kind != literal })
	if i < 0 || c.possible || !p.name.is(c.name) {
		return false
	}
	ended := *c
	ended.args = slices.Insert(slices.Clone(c.args), i, arg{text: "--"})
	return ended.matches(p) == NoMatch
}

// matches reports whether the command is what p describes.
func (c *command) matches(p *Pattern) Outcome {
	best, args := c.is(p)
	if best == NoMatch {
		return NoMatch
	}
	if c.possible {
		best = Opaque
	}
	if p.exactly {
		best = best.and(c.onlyWords(p, args))
	}
	best = best.and(p.found(c, args))
	if table := subcommandsOf(p.name.text); table != nil && best != NoMatch && len(p.options) > 0 {
		args = table.beside(args, p.options)
	}
	for i := range p.options {
		if best == NoMatch {
			break
		}
		best = best.and(p.options[i].given(p.known, args))
	}
	if best != NoMatch && !p.any && !p.dry() && c.changesNothing() {
		return NoMatch
	}
	return best
}

// mayBeSplit reports whether an argument before the subcommand may expand to several words, one of
// them the subcommand.
func (c *command) mayBeSplit() bool {
	table := subcommandsOf(c.name)
	if table == nil {
		return false
	}
	_, rest, _ := table.next(c.args)
	return slices.ContainsFunc(c.args[:len(c.args)-len(rest)], func(a arg) bool { return a.split })
}

// is reports whether the program is that of the pattern, and returns the arguments that the command
// takes under the pattern's name.
func (c *command) is(p *Pattern) (Outcome, []arg) {
	switch {
	case p.name.text == "":
		return NoMatch, nil
	case p.name.glob && strings.Contains(p.name.text, "/"):
		if c.path != "" && matchStar(p.name.text, c.path) || c.path == "" && p.name.is(c.name) {
			return Match, c.args
		}
		return NoMatch, nil
	case p.name.is(c.name), sameProgram(c.name, p.name.text):
		return Match, c.args
	}
	if args := c.as(p.name.text); args != nil {
		return Opaque, args
	}
	return NoMatch, nil
}

// found reports whether the operands of the pattern are among args, in the required places.
func (p *Pattern) found(c *command, args []arg) Outcome {
	if len(p.operands) == 0 {
		return Match
	}
	at := 0
	if table := subcommandsOf(p.name.text); table != nil {
		sub, rest, sure := table.next(args)
		if sub == nil {
			return NoMatch
		}
		first := p.operand(0, *sub)
		if isEquivalent(p, *sub, rest) {
			first = Match
		}
		switch {
		case !sure && first == NoMatch:
			return p.inOrder(c, args, 0).and(Opaque) // the operand may be the value of an option
		case first == NoMatch:
			return NoMatch
		case first == Opaque || !sure:
			return p.inOrder(c, rest, 1).and(Opaque)
		}
		args, at = rest, 1
		if group := groups[p.name.text+" "+sub.text]; group != nil && len(p.operands) > 1 {
			second, rest, sure := group().next(args)
			if second == nil {
				return NoMatch
			}
			switch found := p.operand(1, *second); {
			case sure && found == NoMatch:
				return NoMatch
			case sure && found == Match:
				args, at = rest, 2
			}
		}
	}
	return p.inOrder(c, args, at)
}

// operand reports whether an argument matches operand number n.
func (p *Pattern) operand(n int, a arg) Outcome {
	w := &p.operands[n]
	switch {
	case a.kind == literal && (w.is(a.text) || isAlias(p, a.text, n)):
		return Match
	case a.kind == literal && isShort(p, a.text, n), a.kind != literal && a.mayBe(w):
		return Opaque
	}
	return NoMatch
}

// inOrder reports whether the operands starting at number from are among args, in their order.
func (p *Pattern) inOrder(c *command, args []arg, from int) Outcome {
	sure, may := from, from // number of operands found certainly, and possibly
	files := subcommandsOf(p.name.text) == nil
	for _, list := range [...][]arg{args, c.inputs} {
		for _, a := range list {
			if sure < len(p.operands) && a.kind == literal && (p.operand(sure, a) == Match || files && p.operands[sure].isFile(a.text)) {
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

// advance returns how many operands may have been found once a is counted as well, given that n
// were found before it.
func (p *Pattern) advance(a arg, n int, files bool) int {
	switch {
	case n == len(p.operands):
		return n
	case a.kind == anything:
		return len(p.operands)
	case a.kind == spread:
		for n < len(p.operands) && a.mayBe(&p.operands[n]) {
			n++
		}
	case p.operand(n, a) != NoMatch || files && a.kind == literal && p.operands[n].isFile(a.text):
		n++
	}
	return n
}

// isFile reports whether a path is that of the file named by the word.
func (w *word) isFile(at string) bool {
	if !strings.ContainsAny(w.text, "./") || len(at) <= len(w.text) || strings.HasPrefix(at, "-") {
		return false
	}
	clean := path.Clean(at)
	if strings.Contains(w.text, "/") {
		return w.is(clean) || strings.HasSuffix(clean, "/"+w.text)
	}
	return w.is(path.Base(clean))
}

// onlyWords reports whether the command has only arguments of the pattern and inert ones.
func (c *command) onlyWords(p *Pattern, args []arg) Outcome {
	if slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal }) {
		return Opaque
	}
	if c.inert(p) {
		return Match
	}
	return NoMatch
}
