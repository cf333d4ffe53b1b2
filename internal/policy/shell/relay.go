package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A function is one whose body is read now.
type function struct {
	name    string
	begin   flow // of its body
	texts   int  // the depth of scripts within scripts at which its body stands
	shifts  int  // arguments that are gone for certain
	unclear bool // others may be
	sets    bool // they may be replaced: set -- x
	runs    bool // they are a command somewhere: run() { "$@"; }
	relay
}

// A relay is a function that runs its arguments as a command.
type relay struct {
	from    int  // the first that is of the command
	unclear bool // that is not certain
	divided bool // $@ outside quotes
}

// isArguments reports whether a word is "$@" or $@.
func isArguments(w *syntax.Word) (bare, ok bool) {
	p, quoted := onlyExpansion(w)
	ok = p != nil && isPlain(p) && p.Index == nil && p.Param.Value == "@"
	return ok && !quoted, ok
}

// readFunction reads the definition of a function. Its body counts, whether or not it is called.
func readFunction(r *reader, d *syntax.FuncDecl) {
	r.side, r.files.loops = true, true
	r.vars.forget()
	r.vars.unbound = true
	r.defined.add(d.Name.Value)
	leave := r.flow.apart()
	outer, f := r.body, &function{name: d.Name.Value, begin: r.flow, texts: r.texts}
	r.body = f
	r.fed(true, func() { r.stmt(d.Body) })
	r.body = outer
	leave()
	switch {
	case !f.runs:
	case f.sets || handlers[f.name]:
		r.unsure("a command word that is not literal")
	default:
		addRelay(r, f.name, f.relay)
	}
}

// shift notes that the first arguments of the function whose body is read are gone.
func (f *function) shift(r *reader, args []arg) {
	n, err := 1, error(nil)
	if len(args) > 0 {
		n, err = strconv.Atoi(args[0].text)
	}
	if err != nil || n < 0 || n > maxElements || r.texts != f.texts ||
		r.flow.inIf != f.begin.inIf || r.flow.isApart != f.begin.isApart || r.flow.inChain != f.begin.inChain || r.flow.orRight != f.begin.orRight {
		f.unclear = true
		return
	}
	f.shifts += n
}

// relays reports whether a command word is the arguments of the function whose body is read.
func relays(r *reader, word arg) bool {
	f := r.body
	if !word.all || f == nil || f.texts != r.texts {
		return false
	}
	f.relay = relay{f.shifts, f.relay.unclear || f.unclear || f.runs && f.from != f.shifts, f.divided || word.bare}
	f.runs = true
	return true
}

// addRelay notes that a function runs its arguments, and reads them in the calls that stand before its definition: in
// the body of another function, say.
func addRelay(r *reader, name string, how relay) {
	if r.relayOf == nil {
		r.relayOf = make(map[string]relay)
	}
	if before, again := r.relayOf[name]; again {
		how.unclear = how.unclear || before.unclear || before.from != how.from
		how.divided = how.divided || before.divided
		if how == before {
			return
		}
	}
	r.relayOf[name] = how
	if r.taken++; r.taken > maxTaken {
		r.unsure("too many functions that run their arguments")
		return
	}
	readAgain(r, name, func(args []arg, redirs []*syntax.Redirect) { readRelayed(r, how, args, redirs) })
}

// maxTaken bounds the definitions for which the commands in front are read again.
const maxTaken = 64

// readAgain reads the calls of a name that were read before its definition. Their input may be anything.
func readAgain(r *reader, name string, read func(args []arg, redirs []*syntax.Redirect)) {
	for i := range len(r.commands) {
		c := &r.commands[i]
		if c.name != name || c.path != "" {
			continue
		}
		before := r.fedText
		r.fedText = slices.ContainsFunc(c.redirs, givesText)
		r.fed(true, func() { read(c.args, c.redirs) })
		r.fedText = before
	}
}

// readOwn reads a call of a function or an alias of the script that runs the arguments.
func readOwn(r *reader, name string, args []arg, redirs []*syntax.Redirect) {
	if how, ok := r.relayOf[name]; ok {
		readRelayed(r, how, args, redirs)
	}
	if words, ok := r.aliases[name]; ok {
		expandAlias(r, name, words, args, redirs)
	}
	switch {
	case r.body == nil:
	case name == "shift":
		r.body.shift(r, args)
	case name == "set":
		r.body.sets = r.body.sets || slices.ContainsFunc(args, func(a arg) bool { return !isCluster(a.text) && a.text != "pipefail" && !strings.HasPrefix(a.text, "+") })
	}
}

// readRelayed reads the arguments of a call of a function that runs them.
func readRelayed(r *reader, how relay, args []arg, redirs []*syntax.Redirect) {
	if how.divided && slices.ContainsFunc(args, func(a arg) bool {
		return a.kind != literal || strings.Trim(a.text, plainLetters) != ""
	}) {
		r.unsure("a command word that is not literal")
		return
	}
	defer func(before lack) { r.flow.lack = before }(r.flow.because(conditional))
	switch known := args[:min(how.from, len(args))]; {
	case how.unclear && slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal }),
		slices.ContainsFunc(known, func(a arg) bool { return a.kind > single }):
		r.unsure("a command word that is not literal")
	case how.unclear:
		if feeds(redirs) || r.input {
			r.maybe("words that may begin a command", args...)
		}
		r.possibly(args)
	default:
		r.run(args[len(known):], redirs)
	}
}

// keywords are words of the shell's grammar, which an alias may replace as well.
var keywords = setOf("if then else elif fi do done case esac while until for in select function time coproc { } ! [[ ]]")

// readAlias reads definitions. A script has aliases of plain words expanded in some shells, such as zsh; with any other
// nothing can be said of what follows.
func readAlias(r *reader, builtin string, args []arg) {
	for _, a := range args {
		name, text, defines := strings.Cut(a.text, "=")
		switch {
		case a.kind == literal && !defines && (builtin != "hash" && !strings.HasPrefix(name, "-") || name == "-r" || name == "-p" || name == "-a"):
		case builtin != "alias" || a.kind != literal || r.strict || keywords[name] || strings.Trim(name, plainLetters) != "" || strings.HasPrefix(name, "-") ||
			strings.TrimSpace(text) != text || text == "" || strings.Trim(text, plainLetters+" ") != "":
			r.unsure("an alias")
		default:
			defineAlias(r, name, strings.Fields(text))
		}
	}
}

// defineAlias notes an alias, and reads the calls that stand before it: in the body of a loop, say.
func defineAlias(r *reader, name string, words []string) {
	r.defined.add(name)
	if r.aliases == nil {
		r.aliases = make(map[string][]string)
	}
	if before, again := r.aliases[name]; again && !slices.Equal(before, words) {
		r.unsure("an alias")
	} else if again {
		return
	}
	r.aliases[name] = words
	if r.taken++; r.taken > maxTaken {
		r.unsure("too many aliases")
		return
	}
	readAgain(r, name, func(args []arg, redirs []*syntax.Redirect) { expandAlias(r, name, words, args, redirs) })
}

// expandAlias reads what an alias stands for with the words behind it, which may be run in its place.
func expandAlias(r *reader, name string, words []string, args []arg, redirs []*syntax.Redirect) {
	delete(r.aliases, name) // it is not expanded within itself
	loose := r.loose
	r.loose = true
	r.run(slices.Concat(literals(words), args), redirs)
	r.loose = loose
	r.aliases[name] = words
}
