package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits on reading function bodies again when the functions are called: the number of bodies and
// their total size in bytes.
const (
	maxCalls  = 128
	maxCalled = 1 << 16
)

// readFunction reads a function definition. The commands in the function's body count as the
// script's commands even if the script never calls the function.
func (r *reader) readFunction(d *syntax.FuncDecl) {
	if d.Name == nil { // the function is anonymous, as in function { ls; }, which only zsh permits
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
	case handlers[name], hooks[name], strings.HasPrefix(name, "TRAP"), slices.ContainsFunc(r.commands, func(c command) bool { return c.name == name || c.path == name }):
		r.doubtAll("a command word that is not literal") // the arguments of the function are unknown, because the shell may call the function itself, or an earlier command may have called it
	default:
		put(&r.functions, name, append(r.functions[name], d.Body))
		r.vars.forwardingFunctions.add(name)
	}
}

// hooks lists the functions that zsh calls on certain events. It does not list functions whose
// names begin with TRAP.
var hooks = setOf("chpwd precmd preexec periodic zshexit zshaddhistory")

// readBody reads s, the body of a function.
func (r *reader) readBody(f *body, s *syntax.Stmt) {
	defer r.flow.enterCondition(conditional)()
	defer r.flow.enterSubprocess()()
	defer func(outer *body) { r.body = outer }(r.body)
	f.texts, f.begin, f.owner = r.texts, r.flow, r.owner
	r.body = f
	r.withInput(f.definition, func() { r.stmt(s) })
}

// readCall reads the bodies of the named function again, this time with the arguments of a call.
// There may be several bodies, because the script may define the function more than once.
func (r *reader) readCall(name string, args []arg, redirs []*syntax.Redirect) {
	bodies := r.functions[name]
	if len(bodies) == 0 {
		return
	}
	if slices.ContainsFunc(args, r.isPending) {
		return // the arguments are known only when the enclosing function is called; the body is read then
	}
	if was, ok := r.calling[name]; ok {
		if !slices.Equal(was, args) {
			r.doubtAll("a command word that is not literal")
		}
		return
	}
	put(&r.calling, name, args)
	list, known := r.vars.arrays["@"]
	for _, b := range bodies {
		r.calls, r.called = r.calls+1, r.called+int(b.End().Offset()-b.Pos().Offset()) //nolint:gosec // offsets fit in an int
		if r.calls > maxCalls || r.called > maxCalled {
			r.doubtAll("too many function calls")
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

// shift interprets the shift builtin, which removes the first arguments of the enclosing function.
func (r *reader) shift(args []arg) {
	b := r.body
	n, err := 1, error(nil)
	if len(args) > 0 {
		n, err = strconv.Atoi(args[0].text)
	}
	if err != nil || len(args) > 1 {
		r.vars.forgetAll() // in zsh, shift may also take array names
	}
	if b == nil || b.definition {
		return
	}
	list, known := r.vars.arrays["@"]
	straight := r.texts == b.texts && r.flow.conditions == b.begin.conditions && r.flow.subprocesses == b.begin.subprocesses && r.flow.chained == b.begin.chained && r.flow.orRight == b.begin.orRight
	if known = known && err == nil && n >= 0 && straight && r.commands[r.owner].by == b.owner; known {
		list, known = skipElements(list, n)
	}
	r.vars.setArguments(list, known)
}

// handlers lists the functions that a shell calls if it cannot find a command.
var handlers = setOf("command_not_found_handle command_not_found_handler")

// expandAlias reads an alias's expansion, followed by args, as a command that may run.
func (r *reader) expandAlias(name string, args []arg, redirs []*syntax.Redirect) {
	words, ok := r.aliases[name]
	if !ok {
		return
	}
	delete(r.aliases, name) // an alias is not expanded within its own expansion
	loose := r.tentative
	r.tentative = true
	r.run(slices.Concat(literals(words), args), redirs)
	r.tentative = loose
	r.aliases[name] = words
}

// defineGitAlias interprets the git setting with the given key. If it defines an alias, the command
// of the alias may run at any later time.
func (r *reader) defineGitAlias(key string, value arg) {
	name, ok := strings.CutPrefix(strings.ToLower(key), "alias.")
	if !ok || value.kind != literal || value.text == "" {
		return
	}
	script, isShell := strings.CutPrefix(value.text, "!")
	if !isShell {
		script = "git " + value.text
	}
	put(&r.gitAliases, name, script)
	r.tentativeScript(script)
}

// runGitAlias reads the command of a git alias defined by the script.
func (r *reader) runGitAlias(name string, args []arg) {
	script, ok := r.gitAliases[name]
	if !ok {
		return
	}
	defer r.otherShell()()
	delete(r.gitAliases, name) // an alias may have the same name as the command it runs
	defer func() { r.gitAliases[name] = script }()
	if strings.ContainsAny(script, "'\"\\$`;&|<>()*?[~#") {
		r.script(script)
		return
	}
	r.run(append(literals(strings.Fields(script)), args...), nil)
}
