package clientcfg

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A variables value finds references to variables in a client's syntax and translates them to the
// syntax of petrigate's configuration.
type variables struct {
	find *regexp.Regexp
	// one translates a match of the regular expression find. ok is false if the match is ordinary
	// text. problem explains why a reference cannot be translated; otherwise, it is empty.
	one func(s System, match string) (p piece, problem string, ok bool)
}

// A piece is either literal text or a ${...} reference in petrigate's syntax.
type piece struct {
	text string
	ours bool
}

// expand translates all references in a string.
func (v *variables) expand(s System, text string) (ours, problem string) {
	if v == nil {
		return literal(text), ""
	}
	var b strings.Builder
	plain, at := "", 0 // literal text since the last ${...}; it is escaped as a whole, because a $ at the end of one piece affects the next piece
	for _, m := range v.find.FindAllStringIndex(text, -1) {
		p, why, ok := v.one(s, text[m[0]:m[1]])
		if !ok {
			p = piece{text: text[m[0]:m[1]]}
		}
		if problem == "" && why != "" {
			problem = why
		}
		plain += text[at:m[0]]
		at = m[1]
		if !p.ours {
			plain += p.text
			continue
		}
		b.WriteString(strings.TrimSuffix(literal(plain+"{"), "{") + p.text)
		plain = ""
	}
	return b.String() + literal(plain+text[at:]), problem
}

// dollars matches everything that must be escaped in petrigate's configuration: two or more $ in a
// row, and ${.
var dollars = regexp.MustCompile(`\${2,}|\$\{`)

// literal escapes a string so that petrigate finds no references in it.
func literal(text string) string {
	return dollars.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, "$", "$$") })
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable returns a reference to an environment variable in petrigate's syntax. If the name is
// invalid or the variable is not set, it returns a problem instead, because petrigate could not
// load a configuration with this reference.
func (s System) variable(name string) (ours, problem string) {
	if !variableName.MatchString(name) {
		return "", fmt.Sprintf("%q is not the name of a variable", name)
	}
	if _, set := s.Env(name); !set {
		return "", fmt.Sprintf("it reads the variable %s, which is not set here; set it for petrigate, and import again", name)
	}
	return "${" + name + "}", ""
}

var (
	braces    = regexp.MustCompile(`\$\{[^}]*\}`)
	shellForm = regexp.MustCompile(`^\$\{?([A-Za-z_][A-Za-z0-9_]*)(:-.*?)?\}?$`)
)

// shellVariables translates ${NAME} and ${NAME:-default} to petrigate's syntax.
var shellVariables = &variables{find: braces, one: shellVariable}

func shellVariable(s System, match string) (p piece, problem string, ok bool) {
	m := shellForm.FindStringSubmatch(match)
	if m == nil {
		return p, "", false
	}
	if m[2] != "" {
		return piece{"${" + m[1] + m[2] + "}", true}, "", true
	}
	return s.reference(m[1])
}

// reference is like [System.variable] but has the signature of [variables.one]. ok is always true.
func (s System) reference(name string) (p piece, problem string, ok bool) {
	ours, problem := s.variable(name)
	return piece{ours, true}, problem, true
}

// geminiVariables translates references of the form $NAME, and those that shellVariables
// translates.
var geminiVariables = &variables{find: regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}|\$[A-Za-z_][A-Za-z0-9_]*`), one: shellVariable}

var gooseForm = regexp.MustCompile(`\$\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}|\$[A-Za-z_][A-Za-z0-9_]*`)

// gooseHeaders returns a variables value for the headers of a Goose extension. It recognizes $NAME
// and ${NAME}. The name must be a key of the extension's envs, which contains the value, or an
// element of env_keys, which lists environment variables. Any other match is ordinary text.
func gooseHeaders(fields map[string]any) *variables {
	set, _ := fields["envs"].(map[string]any)
	keys, _ := fields["env_keys"].([]any)
	return &variables{find: gooseForm, one: func(s System, match string) (p piece, problem string, ok bool) {
		name := strings.TrimSpace(strings.Trim(match, "${}"))
		if value, is := scalar(set[name]).(string); is {
			return piece{text: value}, "", true
		}
		if !slices.Contains(keys, any(name)) {
			return p, "", false
		}
		return s.reference(name)
	}}
}

// windsurfVariables translates references of the form ${file:path}, and those that editorVariables
// translates.
var windsurfVariables = &variables{find: braces, one: func(s System, match string) (p piece, problem string, ok bool) {
	if path, is := strings.CutPrefix(strings.TrimSuffix(match, "}"), "${file:"); is {
		return s.file(path), "", true
	}
	return editorVariable(s, match)
}}

// file returns a reference to a file's contents.
func (s System) file(path string) piece {
	if rest, home := strings.CutPrefix(path, "~/"); home {
		path = s.path(s.Home, rest)
	}
	return piece{"${file:" + path + "}", true}
}

// editorVariables translates variable references in the syntax of VS Code and its forks.
var editorVariables = &variables{find: braces, one: editorVariable}

func editorVariable(s System, match string) (p piece, problem string, ok bool) {
	inner := strings.TrimSuffix(strings.TrimPrefix(match, "${"), "}")
	kind, name, _ := strings.Cut(inner, ":")
	switch {
	case kind == "env":
		return s.reference(name)
	case kind == "input":
		p, problem, _ = s.reference(upper(name))
		if problem != "" {
			problem = fmt.Sprintf("the editor asks the user for %s; petrigate reads a variable instead: set %s, and import again", match, upper(name))
		}
	case inner == "userHome":
		p.text = s.Home
	case inner == "pathSeparator", inner == "/":
		p.text = s.path("", "x")[:1]
		if s.OS != "windows" {
			p.text = "/"
		}
	case strings.HasPrefix(inner, "workspaceFolder"), kind == "command", kind == "config", inner == "cwd":
		problem = fmt.Sprintf("only an editor window knows %s; write its value, as an absolute path", match)
	default:
		return shellVariable(s, match)
	}
	return p, problem, true
}

// upper converts an input's name to the name of an environment variable.
func upper(name string) string {
	return strings.Trim(regexp.MustCompile(`[^A-Z0-9]+`).ReplaceAllString(strings.ToUpper(name), "_"), "_")
}

// continueVariables translates ${{ secrets.NAME }}.
var continueVariables = &variables{find: regexp.MustCompile(`\$\{\{[^}]*\}\}`), one: func(s System, match string) (p piece, problem string, ok bool) {
	name := strings.TrimSpace(strings.Trim(match, "${}"))
	return s.reference(name[strings.LastIndexByte(name, '.')+1:])
}}

// opencodeVariables translates {env:NAME} and {file:path}.
var opencodeVariables = &variables{find: regexp.MustCompile(`\{(env|file):[^}]*\}`), one: func(s System, match string) (p piece, problem string, ok bool) {
	kind, name, _ := strings.Cut(strings.Trim(match, "{}"), ":")
	if kind == "file" {
		return s.file(name), "", true
	}
	return s.reference(name)
}}

// scalar converts a number or boolean to the string that a process would receive in its
// environment. It returns other values unchanged.
func scalar(v any) any {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return v
}
