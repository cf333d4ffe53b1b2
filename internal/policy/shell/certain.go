package shell

import (
	"path"
	"slices"
	"strings"
)

// Only says whether the script certainly runs nothing but what the patterns
// describe. Every command has to carry one of them, wrappers such as sudo
// included; the script may not write to a file (other than /dev/null), assign a
// variable or define a function, and nothing of it may be opaque.
//
// A command certainly carries a pattern if the tables know all options and
// operands that the pattern does not name, and that the command does with them
// what its name says, no more and no less: `git log --output=f` writes a file, and
// `make -n test` makes nothing. Of a program that is in no table only the words of
// the pattern are certain. Its words up to the first option have to be the first
// operands: `git push status` is not a certain `git status`.
func (r *Reading) Only(p ...Pattern) bool {
	if r.doubt != "" || r.side || len(r.commands) == 0 {
		return false
	}
	return !slices.ContainsFunc(r.commands, func(c command) bool { return !slices.ContainsFunc(p, c.certainly) })
}

// Evidence says whether the success of the script shows that p was done. The
// script has to be one simple command of literal words that certainly carries
// p, as with [Reading.Only], with nothing around it that changes what it does
// or what its success says: no pipe, list, `!`, `&`, substitution, assignment,
// file redirected or wrapper, and no device among its arguments.
func (r *Reading) Evidence(p Pattern) bool {
	if r.doubt != "" || r.side || !r.plain || len(r.commands) != 1 {
		return false
	}
	c := &r.commands[0]
	unsure := slices.ContainsFunc(c.args, func(a arg) bool { return a.kind != literal || isDevice(a.text) })
	return !unsure && c.carries(p) == Match && c.inert(p)
}

// isDevice reports whether an argument names a device, such as /dev/null.
func isDevice(arg string) bool {
	if !strings.Contains(arg, "dev") {
		return false
	}
	clean := "/" + path.Clean(arg)
	return strings.Contains(clean, "/dev/") || strings.HasSuffix(clean, "/dev") || strings.Contains(clean, "=dev/")
}

// certainly reports whether the command is what p describes, and does no more.
func (c *command) certainly(p Pattern) bool {
	if c.carries(p) != Match {
		return false
	}
	if known := programs[c.name]; known.free {
		return startsWith(c.args, p.operands)
	}
	return c.inert(p)
}

// inert reports whether the tables know all options and operands of a command
// that carries p, and that they leave it what its name says.
func (c *command) inert(p Pattern) bool {
	known, options, lead, ok := programOf(c.name, c.args)
	if !ok {
		return len(c.args) == len(p.words) && startsWith(c.args, p.words)
	}
	given, operands, ok := options.given(c.args[lead:], true)
	if !ok {
		return false
	}
	if slices.ContainsFunc(given, func(o givenOption) bool { return !o.inert() && !p.names(o) }) {
		return false
	}
	operands = append(c.args[:lead:lead], operands...)
	return startsWith(operands, p.operands) && known.operands.allow(operands[max(lead, len(p.operands)):])
}

// names reports whether the pattern itself has the option.
func (p *Pattern) names(o givenOption) bool {
	return slices.ContainsFunc(p.options, func(w wanted) bool {
		return o.known != nil && w.is(o.known) && (!w.with || o.set && o.value.kind == literal && o.value.text == w.value)
	})
}

// startsWith reports whether arguments are these words, and perhaps others behind them.
func startsWith(args []arg, words []string) bool {
	return len(args) >= len(words) && slices.EqualFunc(args[:len(words)], words, func(a arg, w string) bool {
		return a.kind == literal && a.text == w
	})
}
