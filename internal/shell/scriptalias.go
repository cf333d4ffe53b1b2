package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scriptAliases are the words of each alias that the script defines and that are followed.
type scriptAliases map[string][]string

// use reports whether a name is that of an alias, or of a program that an alias runs.
func (a scriptAliases) use(name string) bool {
	for alias, words := range a {
		if alias == name || words[0] == name {
			return true
		}
	}
	return false
}

// define reads alias definitions. zsh and others expand an alias in the script that defines it.
// An alias for a program with plain words is followed; any other alias makes all later commands
// uncertain.
func (a *scriptAliases) define(r *findings, builtin string, args []arg) {
	for _, def := range args {
		name, text, defines := strings.Cut(def.text, "=")
		words := strings.Fields(text)
		switch {
		case def.kind == literal && !defines && (builtin != "hash" && !strings.HasPrefix(name, "-") || name == "-r" || name == "-p" || name == "-a"):
		case builtin != "alias" || def.kind != literal || r.strict || len(words) == 0 || strings.TrimSpace(text) != text ||
			strings.Trim(text, plainLetters+" ") != "" || strings.Contains(words[0], "=") || strings.Trim(name, plainLetters) != "" || strings.HasPrefix(name, "-") ||
			shellWords[name] || shellWords[words[0]] || r.defined[name] || r.defined[words[0]] || len(*a) >= maxElements ||
			slices.ContainsFunc(r.commands, func(c command) bool { return c.name == name }):
			r.doubtAll("an alias")
		default:
			if *a == nil {
				*a = make(scriptAliases)
			}
			r.defined.add(name)
			(*a)[name] = words
		}
	}
}

// expandAlias reads the expansion of an alias, followed by args, as a possible command.
func (r *reader) expandAlias(name string, args []arg, redirs []*syntax.Redirect) {
	words, ok := r.aliases[name]
	if !ok {
		return
	}
	delete(r.aliases, name) // an alias is not expanded within itself
	loose := r.tentative
	r.tentative = true
	r.run(slices.Concat(literals(words), args), redirs)
	r.tentative = loose
	r.aliases[name] = words
}

// defineGitAlias reads the command in a setting that defines an alias of git. It may run at any later
// time.
func (r *reader) defineGitAlias(key string, value arg) {
	name, ok := strings.CutPrefix(strings.ToLower(key), "alias.")
	if !ok || value.kind != literal || value.text == "" {
		return
	}
	script, isShell := strings.CutPrefix(value.text, "!")
	if !isShell {
		script = "git " + value.text
	}
	if r.gitAliases == nil {
		r.gitAliases = make(map[string]string)
	}
	r.gitAliases[name] = script
	r.tentativeScript(script)
}

// runGitAlias reads the command of an alias that the script has defined.
func (r *reader) runGitAlias(name string, args []arg) {
	script, ok := r.gitAliases[name]
	if !ok {
		return
	}
	defer r.otherShell()()
	delete(r.gitAliases, name) // an alias may have the name of its own command
	defer func() { r.gitAliases[name] = script }()
	var words []arg
	for word := range strings.FieldsSeq(script) {
		words = append(words, arg{text: word})
	}
	if strings.ContainsAny(script, "'\"\\$`;&|<>()*?[~#") {
		r.script(script)
		return
	}
	r.run(append(words, args...), nil)
}
