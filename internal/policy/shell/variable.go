package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variables is what is known of the variables of a script. bash evaluates the
// *value* of a variable in arithmetic as an expression, and runs what stands
// in an index of it: x='a[$(rm y)]'; echo $((x)).
type variables struct {
	free      map[string]bool // may hold something other than a number
	computed  map[string]bool // are evaluated
	functions bool            // some are defined
	wild      bool            // any may get any value
	tricks    bool            // some text holds an index with a command in it
	tests     bool            // test has operands that are not literal
	arrays    arrays
	made      bool // make gets a value that is not literal
	shells    bool // some text holds a function of make
	given     bool // a program gets a variable that is not known to be inert
	exported  bool // all programs get one
}

// evaluated reports whether a variable that may hold text is evaluated.
func (v *variables) evaluated() bool {
	if v.tests && v.tricks { // x=-v; y='a[$(rm z)]'; [ $x $y ]
		return true
	}
	for name := range v.computed {
		if v.free[name] || isImplicit(name) || v.wild && isName(name) {
			return true
		}
	}
	return false
}

// compute notes that a variable is evaluated.
func (r *reader) compute(name string) {
	if steers(name) {
		r.unsure("a variable that changes what is run: " + name) // ((PATH=1))
	}
	if r.vars.computed == nil {
		r.vars.computed = map[string]bool{}
	}
	r.vars.computed[name] = true
}

// assigned notes that a variable gets a value.
func (r *reader) assigned(name string, value arg) {
	r.side = true
	if isTrick(value.text) || isTrick(value.tail) {
		r.vars.tricks = true
	}
	if strings.Contains(value.text, "$") {
		r.vars.shells = true
	}
	if !isInteger(value) {
		if r.vars.free == nil {
			r.vars.free = map[string]bool{}
		}
		r.vars.free[name] = true
	}
	if steers(name) {
		r.steer(name, value)
	}
	if isCounter(name) && !isInteger(value) {
		r.unsure("arithmetic on text") // RANDOM='a[$(rm y)]'
	}
}

// isTrick reports whether a text may hold an index with a command in it.
func isTrick(text string) bool {
	return strings.Contains(text, "[") && (strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "${"))
}

// isInteger reports whether a value is a number in arithmetic, and nothing more.
func isInteger(a arg) bool {
	return a.kind == literal && strings.Trim(a.text, "+-0123456789") == ""
}

// An effect is what a variable has on the programs that are run.
type effect uint8

const (
	none    effect = iota
	steered        // it changes what is run
	runs           // its value is run as a command
)

// steers reports whether a variable changes what is run.
func steers(name string) bool { return variableEffect(name) != none }

// steer notes the effect of a variable's value.
func (r *reader) steer(name string, value arg) {
	if variableEffect(name) == runs && value.kind == literal {
		r.script(value.text)
		return
	}
	r.unsure("a variable that changes what is run: " + name)
}

// variableEffect is the table of the variables that matter.
func variableEffect(name string) effect {
	switch name {
	case "PAGER", "EDITOR", "VISUAL", "MANPAGER", "BROWSER", "GIT_EDITOR", "GIT_PAGER", "GIT_SEQUENCE_EDITOR",
		"GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "SUDO_EDITOR", "RSYNC_RSH",
		"CVS_RSH", "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "FCEDIT", "PROMPT_COMMAND", "GH_PAGER", "GH_EDITOR", "AWS_PAGER",
		"CC", "CXX", "CPP", "LD", "AR", "AS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC", "PSQL_PAGER",
		"KUBE_EDITOR", "MAKE", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER":
		return runs
	case "PATH", "BASH_ENV", "ENV", "IFS", "SHELL", "CONFIG_SHELL", "SHELLOPTS", "BASHOPTS", "BASH_ALIASES", "BASH_CMDS",
		"BASH_LOADABLES_PATH", "BASH_XTRACEFD", "BASH_COMPAT", "POSIXLY_CORRECT", "HISTFILE", "INPUTRC",
		"PS0", "PS1", "PS2", "PS3", "PS4",
		"LESS", "LESSOPEN", "LESSCLOSE", "LESSKEY", "MORE", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKEFILES",
		"PERL5OPT", "PERL5DB", "RUBYOPT", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS", "PYTHONHOME",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "TAR_OPTIONS", "TAPE", "VIMINIT", "EXINIT", "GVIMINIT",
		"LUA_INIT", "MANOPT", "PERLLIB", "NODE_REPL_EXTERNAL_MODULE", "ZDOTDIR", "FPATH", "NULLCMD", "READNULLCMD",
		"RIPGREP_CONFIG_PATH", "GCONV_PATH", "AWKPATH", "AWKLIBPATH", "MANPATH", "TERMINFO",
		"DOCKER_HOST", "DOCKER_CONFIG", "HOME", "XDG_CONFIG_HOME", "NODE_OPTIONS", "GOFLAGS", "GOENV", "RUSTFLAGS", "PYTHONBREAKPOINT", "CFLAGS", "CXXFLAGS", "LDFLAGS":
		return steered
	}
	return variableFamily(name)
}

// variableFamily is the table of the variables that matter by the beginning of their names.
func variableFamily(name string) effect {
	for _, p := range []string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TERMINAL_PROMPT", "GIT_TRACE", "GIT_MERGE_AUTOEDIT", "GIT_OPTIONAL_LOCKS", "GIT_LFS_SKIP_SMUDGE"} {
		if strings.HasPrefix(name, p) {
			return none
		}
	}
	for _, p := range []string{"LD_", "DYLD_", "GIT_", "npm_config_", "NPM_CONFIG_", "BASH_FUNC_", "LUA_INIT", "CARGO_TARGET_", "CARGO_BUILD_"} {
		if strings.HasPrefix(name, p) {
			return steered
		}
	}
	return none
}

// assign reads name=value, name[index]=value and name=(...), and returns the value.
func (r *reader) assign(a *syntax.Assign) (value arg) {
	r.side = true
	if a.Index != nil {
		r.arithm(a.Index)
	}
	switch {
	case a.Array != nil:
		value = r.array(a.Array)
	case a.Value != nil:
		value = r.value(a.Value)
	case a.Naked:
		return value
	}
	if a.Append && !isInteger(value) {
		value = arg{kind: anything}
	}
	if a.Name != nil && (a.Array != nil || a.Index != nil) {
		r.vars.arrays.add(a.Name.Value)
	}
	if a.Name != nil {
		r.assigned(a.Name.Value, value)
	}
	return value
}

// value reads the value of an assignment. It is never split, and what surely is
// a number counts as one.
func (r *reader) value(w *syntax.Word) arg {
	a := r.word(w)
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.ArithmExp:
			return arg{text: "0"}
		case *syntax.ParamExp:
			if p.Length || isNumber(p.Param.Value) {
				return arg{text: "0"}
			}
		}
	}
	return a
}

// array reads (...), whose elements are words as those of a command.
func (r *reader) array(x *syntax.ArrayExpr) arg {
	value := arg{}
	for _, e := range x.Elems {
		if e.Index != nil {
			r.arithm(e.Index)
		}
		if e.Value == nil {
			continue
		}
		for _, a := range r.expand(nil, e.Value) {
			if !isInteger(a) {
				value = arg{kind: anything}
			}
		}
	}
	return value
}

// declare reads declare, local, export, readonly and typeset.
func (r *reader) declare(d *syntax.DeclClause) {
	r.side = true
	var args, assigned []arg
	for _, a := range d.Args {
		switch {
		case !a.Naked:
			value := r.assign(a)
			if a.Array == nil && a.Name != nil {
				assigned = append(assigned, assignment(a.Name.Value, value))
				r.given(a.Name.Value, value)
			}
		case a.Value != nil:
			args = r.expand(args, a.Value)
		case a.Name != nil && a.Index == nil:
			args = append(args, arg{text: a.Name.Value})
		default:
			r.unsure("a declaration of an element")
		}
	}
	r.commands = append(r.commands, command{name: d.Variant.Value, args: args})
	r.declared(args)
	readCompounds(r, append(assigned, args...))
	r.exports(d.Variant.Value, args)
}

// exports notes what export, or declare -x, gives to all programs.
func (r *reader) exports(builtin string, args []arg) {
	exported := builtin == "export"
	for _, a := range args {
		name, value, _ := strings.Cut(a.text, "=")
		switch {
		case strings.HasPrefix(a.text, "-"):
			exported = exported || strings.Contains(a.text, "x")
			if strings.Contains(a.text, "f") {
				return // functions
			}
		default:
			r.given(name, arg{kind: max(a.kind, single), text: value})
		}
	}
	r.vars.exported = r.vars.exported || exported && r.vars.given
	r.vars.given = false
}

// declared reads the arguments of declare and its kin which are not plain assignments.
func (r *reader) declared(args []arg) {
	for _, a := range args {
		name, value, ok := strings.Cut(a.text, "=")
		switch {
		case a.kind == literal && strings.HasPrefix(a.text, "-"):
			if strings.ContainsAny(a.text, "inI") {
				r.unsure("a variable whose values are evaluated")
			}
		case a.kind == literal && strings.HasPrefix(a.text, "+"):
		case a.kind != literal && !ok:
			r.unsure("a declaration that is not literal")
		case !isName(strings.TrimSuffix(name, "+")):
			r.unsure("a declaration of an element")
		case a.kind != literal:
			r.assigned(strings.TrimSuffix(name, "+"), arg{kind: anything})
		case ok:
			r.assigned(strings.TrimSuffix(name, "+"), arg{text: value})
		}
	}
}

// named notes that the variables which arguments name get some value.
func (r *reader) named(args []arg) {
	for _, a := range args {
		if a.kind != literal || !isName(a.text) {
			r.unsure("a variable whose name is not literal")
			return
		}
		r.assigned(a.text, arg{kind: anything})
	}
}

// isName reports whether a text is the name of a variable.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z') && (i == 0 || !('0' <= c && c <= '9')) {
			return false
		}
	}
	return s != ""
}
