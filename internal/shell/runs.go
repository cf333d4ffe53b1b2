package shell

import "slices"

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
		if of, ok := r.mentions.hasName(p); ok {
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
