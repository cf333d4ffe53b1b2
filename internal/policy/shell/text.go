package shell

import (
	"regexp"
	"strings"
)

// readAwk reads the program of awk, which can run commands.
func readAwk(r *reader, args []arg) {
	for len(args) > 0 && (strings.HasPrefix(args[0].text, "-") || args[0].kind == literal && args[0].text == "-") {
		a, rest := args[0], args[1:]
		switch {
		case a.kind == literal && (a.text == "-F" || a.text == "-v") && len(rest) > 0 && rest[0].kind <= single:
			rest = rest[1:]
		case a.kind <= single && (strings.HasPrefix(a.text, "-F") || strings.HasPrefix(a.text, "-v")) && len(a.text) > 2:
		case a.kind == literal && a.text == "-f" && len(rest) > 0:
			readScriptFile(r, rest[0])
			return
		case asksHelp(args):
			return
		default:
			r.unsure("awk with options that are not known")
			return
		}
		args = rest
	}
	if len(args) > 0 {
		readAwkProgram(r, args[0])
	}
}

// readAwkProgram looks for what can run a command: system(), pipes, and what gawk
// loads or calls by a name.
func readAwkProgram(r *reader, a arg) {
	text := strings.ReplaceAll(a.text, "||", "")
	if a.kind != literal || strings.ContainsAny(text, "|@") || strings.Contains(text, "system") {
		r.unsure("a program on the command line")
	}
}

// readSed reads the scripts of sed, which can run commands with e.
func readSed(r *reader, args []arg) {
	var scripts, operands []arg
	file := false
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a.kind != anything && isScriptOption(a) && i+1 < len(args):
			i++
			scripts = append(scripts, args[i])
		case a.kind == literal && a.text == "-f" && i+1 < len(args):
			i++
			file = true
			readScriptFile(r, args[i])
		case a.kind != anything && strings.HasPrefix(a.text, "-") && (a.kind != literal || !isSedFlag(a.text)):
			r.unsure("sed with options that are not known")
			return
		case a.kind == anything || !strings.HasPrefix(a.text, "-"):
			operands = append(operands, a)
		}
	}
	if !file && len(scripts) == 0 && len(operands) > 0 {
		scripts = operands[:1]
	}
	for _, s := range scripts {
		if s.kind != literal || !sedHarmless.MatchString(s.text) {
			r.unsure("a script of sed that is not known")
		}
	}
}

// isScriptOption reports whether an argument is -e, perhaps behind other letters.
func isScriptOption(a arg) bool {
	return a.kind == literal && len(a.text) > 1 && a.text[0] == '-' && a.text[1] != '-' &&
		strings.HasSuffix(a.text, "e") && strings.Trim(a.text[1:len(a.text)-1], "nErsuz") == ""
}

// isSedFlag reports whether an option of sed takes no script.
func isSedFlag(s string) bool {
	if suffix, ok := strings.CutPrefix(s, "-i"); ok {
		return !strings.Contains(suffix, "e")
	}
	return s == "--version" || s == "--help" || !strings.HasPrefix(s, "--") && strings.Trim(s[1:], "nErsuzi") == ""
}

// sedHarmless matches the scripts of sed that hold no commands but those that print,
// delete and substitute.
var sedHarmless = sedScripts()

func sedScripts() *regexp.Regexp {
	// part is text up to a delimiter, which brackets do not hold: versions differ over that.
	part := func(d string) string { return `(?:[^\n\\\[` + d + `]|\\.|\[[^\n\]` + d + `]*\])*` + d }
	var substitutions []string
	for _, d := range []string{`/`, `\|`, `#`, `,`, `@`, `:`} {
		substitutions = append(substitutions, d+part(d)+part(d))
	}
	address := `(?:[0-9$,~+ ]|/` + part(`/`) + `[IM]*)*[ \t!]*`
	command := `(?:[pdDPnNhHgGxl=z]|[qQ][0-9 ]*|s(?:` + strings.Join(substitutions, "|") + `)[gpiIm0-9]*)`
	return regexp.MustCompile(`(?s)^[ \t\n;}]*(?:(?:` + address + `\{[ \t\n;]*)*` + address + command + `(?:[ \t\n;}]+|$))*$`)
}
