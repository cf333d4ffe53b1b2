package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// run reads a command whose words have already been expanded. It also reads the commands that this
// command runs.
func (r *reader) run(args []arg, redirs []*syntax.Redirect) {
	if len(args) == 0 || !r.enter() {
		return
	}
	defer r.leave()
	name, sure, system := args[0].base()
	if !sure {
		if r.isPending(args[0]) && !r.strict {
			return
		}
		r.doubtAll("a command word that is not literal")
		return
	}
	if !system && !r.tentative {
		r.doubtMild("a program outside the system directories")
		r.files.programs.add(path.Base(args[0].file()))
	}
	if strings.HasPrefix(name, "-") {
		r.doubtAll("a command word that looks like an option") // for example, in "time -- rm", the parser takes -- as the command word
	}
	if len(name) > 1 && name[0] == '=' {
		r.doubtAll("a command word that zsh searches for") // in zsh, =rm expands to the path of rm
	}
	if name == "" || name == "." && args[0].text != "." {
		return // no program is named "" or "."
	}
	if r.argCount+len(args) > maxArgs {
		r.doubtAll("too many commands")
		return
	}
	r.argCount += len(args)
	r.vars.commandIndex = r.vars.commandIndex || slices.ContainsFunc(args, func(a arg) bool { return hasCommandIndex(a.text) })
	at := len(r.commands)
	c := command{name: name, outside: !system && !isLocalBin(args[0]), args: args[1:], possible: r.tentative, by: r.owner, filter: r.piped && !setsInput(redirs), masking: r.flow.masking}
	if strings.Contains(args[0].text, "/") && args[0].kind == literal {
		c.path = args[0].text
	}
	if c.masking == certain && r.flow.mayHaveEnded {
		c.masking = ended
	}
	c.from, c.to = r.span()
	c.inputs = r.inputsOf(redirs)
	c.args = r.dropPending(c.args)
	r.commands = append(r.commands, c)
	if len(c.args) < len(args)-1 {
		return // some words are arguments of the enclosing function, so the command is read again at each call of that function
	}
	r.readThrough(at, name, args, redirs)
}

// readThrough reads the commands and scripts that r.commands[at] runs.
func (r *reader) readThrough(at int, name string, args []arg, redirs []*syntax.Redirect) {
	owner := r.owner
	if shellWords[name] && r.isOutside(owner) {
		defer r.otherShell()()
	}
	r.owner = at
	r.readClientInput(name, redirs)
	before := r.recognized
	r.recognized = false
	lower, known := name, false
	if len(name) <= maxName { // no table contains a longer name
		lower = strings.ToLower(name)
		known = r.dispatch(lower, args[1:], redirs)
	}
	r.commands[at].unknown = !known && !r.covered
	r.commands[at].unlisted = !known && !r.recognized
	r.recognized = before
	switch {
	case name == "shift":
		r.shift(args[1:])
	case name == "print" && slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal || isCluster(a.text) && strings.Contains(a.text, "v") }):
		r.vars.forgetAll() // in zsh, print -v sets a variable
	}
	if strings.Contains(args[0].text, "/") {
		name = args[0].text
	}
	r.readCall(name, args[1:], redirs)
	r.expandAlias(name, args[1:], redirs)
	if len(r.functions[name]) == 0 {
		r.readFiles(lower, args[1:])
	} else {
		r.commands[at].unknown, r.commands[at].unlisted = false, false // the command runs only the body of a function, and the commands in the body are read separately
	}
	if setsScripts(lower, args[1:]) {
		r.doubtStrict("a setting that changes how project scripts run")
	}
	if lower != name && known {
		r.doubtMild("a name in the wrong case")
	}
	if sub, ok := strings.CutPrefix(lower, "git-"); ok {
		r.run(slices.Concat(literals([]string{"git", sub}), args[1:]), redirs) // git-push and git push denote the same program
	}
	r.owner = owner
	r.flow.noteExit(lower, args[1:])
}

// dispatch looks up a program in the tables and reads the commands that it runs. It returns false
// if the program is in no table, or if the arguments may name a command that dispatch has not
// found.
func (r *reader) dispatch(name string, args []arg, redirs []*syntax.Redirect) bool {
	if plainPrograms[name] {
		return true
	}
	if w, ok := wrappers[name]; ok {
		if !w.transparent {
			defer func(before masking) { r.flow.masking = before }(r.flow.mask(started))
		}
		r.perform(w.read(r.commands[r.owner].name, args), redirs)
		return true
	}
	if !r.tentative {
		if program := launchedProgram(name, args); len(program) > 0 {
			r.recognized = true
			r.run(program, redirs)
			return true
		}
	}
	if builtin := !r.tentative && transparent[name]; !builtin {
		defer func(before masking) { r.flow.masking = before }(r.flow.mask(started))
	}
	if t, ok := tools[name]; ok {
		p, known := readTool(name, t, args, r.strict)
		r.recognized = t.kind != container
		r.perform(p, redirs)
		return known
	}
	if !r.tentative && r.readBuiltin(name, args) {
		return true
	}
	family := name
	if !interpreters[family] {
		family = strings.TrimRight(name, "0123456789.-") // for example, python3.12 is listed as python in the tables
	}
	switch {
	case name == "xargs", name == "gxargs":
		r.perform(readXargs(args, !r.strict && r.pipesNames()), redirs)
	case shells[family], foreignShells[family]:
		r.readShell(family, args, redirs)
	case interpreters[family]:
		r.recognized = true
		r.perform(readInterpreter(family, args), redirs)
		return false // the arguments may name commands that have not been found
	default:
		p, ok := readProgram(name, args, r.strict)
		r.perform(p, redirs)
		return ok
	}
	return true
}

// readProgram reads the arguments of find, git, awk, sed and similar programs, which have their own
// languages. It returns false for any other program.
func readProgram(name string, args []arg, strictly bool) (p plan, ok bool) {
	switch {
	case name == "find", name == "gfind", name == "bfs":
		return readFind(args, strictly), true
	case name == "git":
		return readGit(args), true
	case awks[name]:
		return readAwk(args), true
	case name == "sed", name == "gsed":
		return readSed(args), true
	}
	return nil, false
}

// transparent lists the builtins and shells whose exit status is that of the script they run.
var transparent = setOf("eval sh bash dash ash ksh mksh zsh rbash")

// perform carries out the [plan] of a program. The redirections of the program also apply to some
// of the commands in the plan.
func (r *reader) perform(p plan, redirs []*syntax.Redirect) {
	defer func(before masking) { r.flow.masking = before }(r.flow.masking)
	for _, s := range p {
		switch s.do {
		case runsCommand:
			r.run(s.args, nil)
		case passesCommand:
			r.run(s.args, redirs)
		case runsScript:
			r.readJoined(s.args...)
		case runsElsewhere:
			r.readElsewhere(s.args, redirs)
		case mayRunScript:
			r.tentativeScript(s.args[0].text)
		case mayRunArgs:
			r.readPossible(s.args)
		case inBackground:
			r.flow.mask(background)
		case definesAlias:
			r.defineGitAlias(s.what, s.args[0])
		case runsAlias:
			r.runGitAlias(s.what, s.args)
		default:
			r.note(s)
		}
	}
}

// readElsewhere reads words as a script for another shell, for example the one that ssh starts.
func (r *reader) readElsewhere(args []arg, redirs []*syntax.Redirect) {
	defer func(before values, outer []*syntax.Redirect) { r.vars.values, r.outerRedirs = before, outer }(r.vars.values, r.outerRedirs)
	r.vars.values, r.outerRedirs = values{}, redirs // the current shell's variables are unknown in the other shell
	r.readJoined(args...)
}

// readJoined joins words with spaces and reads the result as a script, as eval and ssh do. If a
// word is not literal, readJoined records that the script might run any command. If the word is an
// argument of a function that is being defined, and [Options.Strict] is not set, readJoined instead
// does nothing: the script is read again at each call of the function.
func (r *reader) readJoined(args ...arg) {
	var b strings.Builder
	for i, a := range args {
		if a.kind != literal {
			if r.isPending(a) && !r.strict {
				return
			}
			r.doubtAll("a script that is not literal")
			return
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
	}
	r.script(b.String())
}

// readPossible reads every suffix of args as a command that may run.
func (r *reader) readPossible(args []arg) {
	if r.covered {
		return // an enclosing call of readPossible reads these arguments
	}
	loose := r.tentative
	r.tentative, r.covered = true, true
	for i, a := range args {
		if a.kind <= single && strings.HasPrefix(a.text, "-") || a.kind == literal && a.text == "" {
			continue
		}
		r.run(args[i:], nil)
	}
	r.tentative, r.covered = loose, false
}
