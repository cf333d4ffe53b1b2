package clientcfg

import (
	"fmt"
	"regexp"
	"strings"
)

// A variables replaces what a client replaces in a text by what a configuration of ours has for
// it. The problem says why that cannot be.
type variables struct {
	find *regexp.Regexp
	// one translates one match; ok is false where it is text like any other.
	one func(s System, match string) (ours, problem string, ok bool)
}

// expand translates a text.
func (v *variables) expand(s System, text string) (ours, problem string) {
	if v == nil {
		return literal(text), ""
	}
	var b strings.Builder
	at := 0
	for _, m := range v.find.FindAllStringIndex(text, -1) {
		value, why, ok := v.one(s, text[m[0]:m[1]])
		if !ok {
			value = literal(text[m[0]:m[1]])
		}
		if problem == "" && why != "" {
			problem = why
		}
		b.WriteString(literal(text[at:m[0]]) + value)
		at = m[1]
	}
	return b.String() + literal(text[at:]), problem
}

var dollars = regexp.MustCompile(`\$\$|\$\{`)

// literal writes a text so that a configuration of ours replaces nothing in it.
func literal(text string) string {
	return dollars.ReplaceAllStringFunc(text, func(s string) string { return "$" + strings.ReplaceAll(s, "$$", "$$$") })
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable refers to a variable that has to be set: a configuration with one that is not is
// refused.
func (s System) variable(name string) (ours, problem string) {
	if !variableName.MatchString(name) {
		return "", fmt.Sprintf("%q is not the name of a variable", name)
	}
	if _, set := s.Env(name); !set {
		return "", fmt.Sprintf("it reads the variable %s, which is not set here; set it where petrigate runs, and import again", name)
	}
	return "${" + name + "}", ""
}

var (
	braces    = regexp.MustCompile(`\$\{[^}]*\}`)
	shellForm = regexp.MustCompile(`^\$\{?([A-Za-z_][A-Za-z0-9_]*)(:-.*?)?\}?$`)
)

// shellVariables are ${NAME} and ${NAME:-default}.
var shellVariables = &variables{find: braces, one: shellVariable}

func shellVariable(s System, match string) (ours, problem string, ok bool) {
	m := shellForm.FindStringSubmatch(match)
	if m == nil {
		return "", "", false
	}
	if m[2] != "" {
		return "${" + m[1] + m[2] + "}", "", true
	}
	ours, problem = s.variable(m[1])
	return ours, problem, true
}

// geminiVariables are $NAME too.
var geminiVariables = &variables{find: regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}|\$[A-Za-z_][A-Za-z0-9_]*`), one: shellVariable}

// editorVariables are those of VS Code and its relatives.
var editorVariables = &variables{find: braces, one: func(s System, match string) (ours, problem string, ok bool) {
	inner := strings.TrimSuffix(strings.TrimPrefix(match, "${"), "}")
	kind, name, _ := strings.Cut(inner, ":")
	switch {
	case kind == "env":
		ours, problem = s.variable(name)
	case kind == "input":
		ours, problem = s.variable(upper(name))
		if problem != "" {
			problem = fmt.Sprintf("the editor asks a person for %s; petrigate reads a variable instead: set %s, and import again", match, upper(name))
		}
	case inner == "userHome":
		ours = literal(s.Home)
	case inner == "pathSeparator", inner == "/":
		ours = s.path("", "x")[:1]
		if s.OS != "windows" {
			ours = "/"
		}
	case kind == "file":
		ours = match
	case strings.HasPrefix(inner, "workspaceFolder"), kind == "command", kind == "config", inner == "cwd":
		problem = fmt.Sprintf("%s is known to a window of the editor only; write what it stands for, as an absolute path", match)
	default:
		ours, problem, ok = shellVariable(s, match)
		return ours, problem, ok
	}
	return ours, problem, true
}}

// upper is the name of a variable for an input.
func upper(name string) string {
	return strings.Trim(regexp.MustCompile(`[^A-Z0-9]+`).ReplaceAllString(strings.ToUpper(name), "_"), "_")
}

// continueVariables are ${{ secrets.NAME }}.
var continueVariables = &variables{find: regexp.MustCompile(`\$\{\{[^}]*\}\}`), one: func(s System, match string) (ours, problem string, ok bool) {
	name := strings.TrimSpace(strings.Trim(match, "${}"))
	name = name[strings.LastIndexByte(name, '.')+1:]
	ours, problem = s.variable(name)
	return ours, problem, true
}}

// opencodeVariables are {env:NAME} and {file:path}.
var opencodeVariables = &variables{find: regexp.MustCompile(`\{(env|file):[^}]*\}`), one: func(s System, match string) (ours, problem string, ok bool) {
	kind, name, _ := strings.Cut(strings.Trim(match, "{}"), ":")
	if kind == "file" {
		return "${file:" + strings.Replace(name, "~", s.Home, 1) + "}", "", true
	}
	ours, problem = s.variable(name)
	return ours, problem, true
}}
