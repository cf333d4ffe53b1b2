package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A body is the body of a function while it is read: at the definition, and again at each call if the function uses its
// arguments.
type body struct {
	definition bool
	trap       bool // it is the action of a trap
	given      bool // it uses the arguments of the function
	texts      int  // the depth of scripts within scripts at which it stands
	begin      flow
	owner      int // the command that calls it
}

// maxCalls bounds the bodies that are read for calls, and maxCalled their bytes.
const (
	maxCalls  = 128
	maxCalled = 1 << 16
)

// readFunction reads the definition of a function. Its body counts, whether or not it is called.
func readFunction(r *reader, d *syntax.FuncDecl) {
	if d.Name == nil { // of zsh: function { ls; }
		r.unsure("a statement that bash does not know")
		r.stmt(d.Body)
		return
	}
	name := d.Name.Value
	r.side, r.files.loops = true, true
	r.defined.add(name)
	if isAliased(r, name) {
		r.unsure("an alias")
	}
	c := r.vars.effectsOf(d.Body)
	c.arguments = false
	r.vars.lose(c)
	for changed := range c.names {
		r.vars.neverBind(changed)
	}
	r.vars.unbound = r.vars.unbound || c.all
	before, lost := r.vars.values, make(set)
	r.vars.values = values{lost: &lost}
	f := &body{definition: true}
	readBody(r, f, d.Body)
	r.vars.values = before
	for name := range lost {
		if r.vars.neverBind(name); name == "" {
			r.vars.forget()
			r.vars.unbound = true
		}
	}
	switch {
	case !f.given:
	case handlers[name], slices.ContainsFunc(r.commands, func(c command) bool { return c.name == name || c.path == name }), isHook(name):
		r.unsure("a command word that is not literal") // the shell calls it, or a command before the definition did
	default:
		if r.functions == nil {
			r.functions = make(map[string][]*syntax.Stmt)
		}
		r.functions[name] = append(r.functions[name], d.Body)
		r.vars.relays.add(name)
	}
}

// isHook reports whether zsh itself calls a function of that name.
func isHook(name string) bool {
	return strings.HasPrefix(name, "TRAP") || hooks[name]
}

// hooks are the functions that zsh calls.
var hooks = setOf("chpwd precmd preexec periodic zshexit zshaddhistory")

// readBody reads the body of a function.
func readBody(r *reader, f *body, s *syntax.Stmt) {
	before := r.flow.because(conditional)
	r.flow.inIf++
	leave := r.flow.apart()
	outer := r.body
	f.texts, f.begin, f.owner = r.texts, r.flow, r.owner
	r.body = f
	r.fed(f.definition, func() { r.stmt(s) })
	r.body = outer
	leave()
	r.flow.inIf--
	r.flow.lack = before
}

// awaits reports whether a word stands for arguments of the function, while its definition is read: no call has given them yet.
func (b *body) awaits(r *reader, a arg) bool {
	if b == nil || !a.given || !b.definition || b.texts != r.texts {
		return false
	}
	b.given = true
	return true
}

// without leaves out the words that stand for arguments of the function, while its definition is read.
func (b *body) without(r *reader, args []arg) []arg {
	if b == nil || !b.definition || r.strict || !slices.ContainsFunc(args, func(a arg) bool { return b.awaits(r, a) }) {
		return args
	}
	return slices.DeleteFunc(slices.Clone(args), func(a arg) bool { return b.awaits(r, a) })
}

// readCall reads the bodies of a function again, with the arguments of a call.
func readCall(r *reader, name string, args []arg, redirs []*syntax.Redirect) {
	bodies := r.functions[name]
	if len(bodies) == 0 {
		return
	}
	for _, a := range args {
		if r.body.awaits(r, a) {
			return // it is read when the function around it is called
		}
	}
	if was, ok := r.calling[name]; ok {
		if !slices.Equal(was, args) {
			r.unsure("a command word that is not literal")
		}
		return
	}
	if r.calling == nil {
		r.calling = make(map[string][]arg)
	}
	r.calling[name] = args
	list, known := r.vars.arrays["@"]
	for _, b := range bodies {
		r.calls, r.called = r.calls+1, r.called+int(b.End().Offset()-b.Pos().Offset()) //nolint:gosec // within the script
		if r.calls > maxCalls || r.called > maxCalled {
			r.unsure("too many calls of functions")
			break
		}
		r.vars.setArguments(args, len(args) <= maxElements && !r.vars.resets)
		input := r.input
		r.input = r.input || feeds(redirs)
		readBody(r, &body{}, b)
		r.input = input
	}
	r.vars.setArguments(list, known)
	delete(r.calling, name)
}

// shift takes the first arguments away from the function.
func (b *body) shift(r *reader, args []arg) {
	n, err := 1, error(nil)
	if len(args) > 0 {
		n, err = strconv.Atoi(args[0].text)
	}
	if err != nil || len(args) > 1 {
		r.vars.forget() // zsh has the names of arrays there
	}
	if b == nil || b.definition {
		return
	}
	list, known := r.vars.arrays["@"]
	straight := r.texts == b.texts && r.flow.inIf == b.begin.inIf && r.flow.isApart == b.begin.isApart && r.flow.inChain == b.begin.inChain && r.flow.orRight == b.begin.orRight
	if known = known && err == nil && n >= 0 && straight && r.commands[r.owner].by == b.owner; known {
		list, known = behind(list, n)
	}
	r.vars.setArguments(list, known)
}

// readAlias reads definitions. Some shells expand an alias in the script that defines it, as zsh does. One that is a
// program with plain words is followed; with any other nothing can be said of what comes behind it.
func readAlias(r *reader, builtin string, args []arg) {
	for _, a := range args {
		name, text, defines := strings.Cut(a.text, "=")
		words := strings.Fields(text)
		switch {
		case a.kind == literal && !defines && (builtin != "hash" && !strings.HasPrefix(name, "-") || name == "-r" || name == "-p" || name == "-a"):
		case builtin != "alias" || a.kind != literal || r.strict || len(words) == 0 || strings.TrimSpace(text) != text ||
			strings.Trim(text, plainLetters+" ") != "" || strings.Contains(words[0], "=") || strings.Trim(name, plainLetters) != "" || strings.HasPrefix(name, "-") ||
			shellWords[name] || shellWords[words[0]] || r.defined[name] || r.defined[words[0]] || len(r.aliases) >= maxElements ||
			slices.ContainsFunc(r.commands, func(c command) bool { return c.name == name }):
			r.unsure("an alias")
		default:
			if r.aliases == nil {
				r.aliases = make(map[string][]string)
			}
			r.defined.add(name)
			r.aliases[name] = words
		}
	}
}

// isAliased reports whether an alias has the name, or stands for it.
func isAliased(r *reader, name string) bool {
	for alias, words := range r.aliases {
		if alias == name || words[0] == name {
			return true
		}
	}
	return false
}

// expandAlias reads what an alias stands for, with the words behind it, which may be run in its place.
func expandAlias(r *reader, name string, args []arg, redirs []*syntax.Redirect) {
	words, ok := r.aliases[name]
	if !ok {
		return
	}
	delete(r.aliases, name) // it is not expanded within itself
	loose := r.loose
	r.loose = true
	r.run(slices.Concat(literals(words), args), redirs)
	r.loose = loose
	r.aliases[name] = words
}
