package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds for the bodies read at calls: their number and their bytes in total.
const (
	maxCalls  = 128
	maxCalled = 1 << 16
)

// A body is a function body being read: once at the definition, and again at each call if the
// function uses its arguments.
type body struct {
	definition    bool
	trap          bool // the action of a trap, not a function
	usesArguments bool // the body uses the arguments of the function
	texts         int  // nesting depth of scripts at the body
	begin         flow
	owner         int // index of the calling command
}

// readFunction reads the definition of a function. The commands of its body count whether or not
// the script calls it.
func (r *reader) readFunction(d *syntax.FuncDecl) {
	if d.Name == nil { // only zsh has anonymous functions: function { ls; }
		r.doubtAll("a statement that bash does not know")
		r.stmt(d.Body)
		return
	}
	name := d.Name.Value
	r.sideEffects, r.files.loops = true, true
	r.defined.add(name)
	if r.aliases.use(name) {
		r.doubtAll("an alias")
	}
	c := r.vars.effectsOf(d.Body)
	c.arguments = false
	r.vars.forgetEffects(c)
	for changed := range c.names {
		r.vars.neverBind(changed)
	}
	r.vars.unbound = r.vars.unbound || c.all
	before, lost := r.vars.values, make(set)
	r.vars.values = values{lost: &lost}
	f := &body{definition: true}
	r.readBody(f, d.Body)
	r.vars.values = before
	for name := range lost {
		if r.vars.neverBind(name); name == "" {
			r.vars.forgetAll()
			r.vars.unbound = true
		}
	}
	switch {
	case !f.usesArguments:
	case handlers[name], slices.ContainsFunc(r.commands, func(c command) bool { return c.name == name || c.path == name }), isHook(name):
		r.doubtAll("a command word that is not literal") // the shell calls it itself, or a command before the definition did
	default:
		if r.functions == nil {
			r.functions = make(map[string][]*syntax.Stmt)
		}
		r.functions[name] = append(r.functions[name], d.Body)
		r.vars.forwardingFunctions.add(name)
	}
}

// isHook reports whether zsh itself calls functions with this name.
func isHook(name string) bool {
	return strings.HasPrefix(name, "TRAP") || hooks[name]
}

// hooks are the functions that zsh calls on events.
var hooks = setOf("chpwd precmd preexec periodic zshexit zshaddhistory")

// readBody reads the body s of a function.
func (r *reader) readBody(f *body, s *syntax.Stmt) {
	before := r.flow.mask(conditional)
	r.flow.conditions++
	leave := r.flow.enterSubprocess()
	outer := r.body
	f.texts, f.begin, f.owner = r.texts, r.flow, r.owner
	r.body = f
	r.withInput(f.definition, func() { r.stmt(s) })
	r.body = outer
	leave()
	r.flow.conditions--
	r.flow.masking = before
}

// isPending reports whether a word consists of function arguments while the definition is being
// read, when they are not yet known.
func (b *body) isPending(r *findings, a arg) bool {
	if b == nil || !a.isArguments || !b.definition || b.texts != r.texts {
		return false
	}
	b.usesArguments = true
	return true
}

// withoutPending returns args without the words that consist of function arguments, while the
// definition is being read.
func (b *body) withoutPending(r *findings, args []arg) []arg {
	if b == nil || !b.definition || r.strict || !slices.ContainsFunc(args, func(a arg) bool { return b.isPending(r, a) }) {
		return args
	}
	return slices.DeleteFunc(slices.Clone(args), func(a arg) bool { return b.isPending(r, a) })
}

// readCall reads the bodies of a function again, with the arguments of a call.
func (r *reader) readCall(name string, args []arg, redirs []*syntax.Redirect) {
	bodies := r.functions[name]
	if len(bodies) == 0 {
		return
	}
	for _, a := range args {
		if r.body.isPending(&r.findings, a) {
			return // it is read when the enclosing function is called
		}
	}
	if was, ok := r.calling[name]; ok {
		if !slices.Equal(was, args) {
			r.doubtAll("a command word that is not literal")
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
			r.doubtAll("too many calls of functions")
			break
		}
		r.vars.setArguments(args, len(args) <= maxElements && !r.vars.resets)
		input := r.input
		r.input = r.input || setsInput(redirs)
		r.readBody(&body{}, b)
		r.input = input
	}
	r.vars.setArguments(list, known)
	delete(r.calling, name)
}

// shift removes the first arguments of the function, as the builtin does.
func (b *body) shift(r *reader, args []arg) {
	n, err := 1, error(nil)
	if len(args) > 0 {
		n, err = strconv.Atoi(args[0].text)
	}
	if err != nil || len(args) > 1 {
		r.vars.forgetAll() // shift of zsh takes names of arrays
	}
	if b == nil || b.definition {
		return
	}
	list, known := r.vars.arrays["@"]
	straight := r.texts == b.texts && r.flow.conditions == b.begin.conditions && r.flow.subprocesses == b.begin.subprocesses && r.flow.chained == b.begin.chained && r.flow.orRight == b.begin.orRight
	if known = known && err == nil && n >= 0 && straight && r.commands[r.owner].by == b.owner; known {
		list, known = behind(list, n)
	}
	r.vars.setArguments(list, known)
}

// handlers are the functions that a shell calls when it does not find a command.
var handlers = setOf("command_not_found_handle command_not_found_handler")
