package shell

import (
	"slices"
	"strings"
)

// readBuilder reads the tools that run what a file of the project says. Of their
// arguments, those that may make one run something else are opaque.
func readBuilder(r *reader, name string, args []arg) {
	r.recognized = true
	for _, file := range buildFiles(name) {
		r.files.program(arg{text: file})
	}
	if len(args) > 0 && args[0].kind == anything {
		r.unsure("a subcommand that is not literal")
		return
	}
	for i, a := range args {
		switch name {
		case "make", "gmake":
			readMakeArgument(r, a, args[i+1:])
		case "go":
			readGoArgument(r, a, args[i+1:])
		default:
			readProjectArgument(r, name, a, args[i+1:])
		}
	}
}

// makeFlags are the letters of the options with which make runs what it would run without.
const makeFlags = "jskBnqtdlCRrwi0123456789"

// readMakeArgument reads a target, a variable or an option of make.
func readMakeArgument(r *reader, a arg, rest []arg) {
	name, value, with := strings.Cut(a.text, "=")
	switch {
	case strings.Contains(a.text, "$"), strings.Contains(a.tail, "$"):
		r.unsure("a text that make expands") // X='$(shell rm x)'
	case a.kind == literal && a.text == "-f" && len(rest) > 0:
		readScriptFile(r, rest[0])
	case a.kind == literal && (a.text == "--no-print-directory" || isCluster(a.text) && strings.Trim(a.text[1:], makeFlags) == ""):
	case strings.HasPrefix(a.text, "-"), name == ".SHELLFLAGS", name == "eval":
		r.unsure("an option that changes what is run")
	case steers(name):
		r.steer(name, arg{kind: a.kind, text: value, tail: a.tail})
	case with && a.kind != literal:
		r.vars.made = true
	}
}

// readGoArgument reads an argument of go.
func readGoArgument(r *reader, a arg, rest []arg) {
	option, value, with := strings.Cut(a.text, "=")
	switch option {
	case "run":
		readProgramFiles(r, rest)
	case "-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool":
		switch {
		case with && a.kind == literal:
			r.script(value)
		case !with && len(rest) > 0:
			r.text(rest[0])
		default:
			r.unsure("an option that runs a command")
		}
	case "-w":
		r.unsure("a setting that may run a command") // go env -w
	default:
		if strings.Contains(a.text+a.tail, "ext") && (strings.Contains(a.text, "flags") || strings.HasPrefix(a.text, "-ext")) || strings.Contains(a.text+a.tail, " -ext") {
			r.unsure("an option that may run a command") // -ldflags=-extld=x
		}
		readProjectArgument(r, "go", a, rest)
	}
}

// readProjectArgument reads an argument of npm, cargo, just and other tools.
func readProjectArgument(r *reader, name string, a arg, rest []arg) {
	npm := name == "npm" || name == "pnpm" || name == "yarn"
	option, value, with := strings.Cut(a.text, "=")
	may := func(o string) bool { return shortens(option, o) }
	switch {
	case npm && slices.ContainsFunc([]string{"--editor", "--viewer", "--node-options", "--call", "--script-shell", "--shell"}, may):
		r.unsure("an option that may run a command")
	case a.kind > single:
	case with && steers(option):
		r.steer(option, arg{kind: a.kind, text: value, tail: a.tail})
	case option == "-f", option == "--file", option == "--makefile":
		if with {
			readScriptFile(r, arg{kind: a.kind, text: value, tail: a.tail})
		} else if len(rest) > 0 {
			readScriptFile(r, rest[0])
		}
	case name != "go" && slices.Contains([]string{"exec", "x", "dlx", "explore", "--command", "script-shell"}, option):
		readLauncher(r, rest)
	case npm && (option == "edit" || option == "help" && len(rest) > 0), option == "pkg" && mentionsScripts(rest),
		name == "cargo" && (option == "--config" || option == "rustc" || option == "rustdoc"):
		r.unsure("a subcommand or an option that changes what is run")
	case option == "run" && (name == "deno" || name == "bun"):
		readProgramFiles(r, rest)
	case slices.Contains([]string{"SHELL", ".SHELLFLAGS", "MAKEFLAGS", "set-script", "--eval", "--shell", "--script-shell", "-E", "eval", "--chooser", "--shell-arg", "--shell-command", "-f-"}, option):
		r.unsure("an option that changes what is run")
	}
}

// mentionsScripts reports whether npm pkg set is about scripts.
func mentionsScripts(args []arg) bool {
	return slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal || strings.Contains(a.text, "script") })
}

// isCluster reports whether an argument is letters behind one dash.
func isCluster(text string) bool {
	return len(text) > 1 && text[0] == '-' && text[1] != '-'
}

// readProgramFiles reads the files that go run and its kin run. What is fetched, or
// stands in the address itself, is on no disk.
func readProgramFiles(r *reader, args []arg) {
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.text, "-") && a.text != "-":
		case a.text == "-", isData(a.text), strings.Contains(a.text, "://"):
			r.unsure("a program that is in no file")
			return
		default:
			readScriptFile(r, a)
		}
	}
}

// isRunner reports whether a tool gives its arguments to what it runs, so that
// one that names a command may be that.
func isRunner(name string) bool {
	switch name {
	case "make", "gmake", "just", "task", "rake", "gradle", "mvn", "ninja":
		return true
	}
	return false
}

// buildFiles returns the names of the files that say what a tool runs.
func buildFiles(name string) []string {
	switch name {
	case "make", "gmake":
		return []string{"Makefile", "makefile", "GNUmakefile"}
	case "npm", "pnpm", "yarn", "bun":
		return []string{"package.json"}
	case "just":
		return []string{"justfile", "Justfile", ".justfile"}
	case "task":
		return []string{"Taskfile.yml", "Taskfile.yaml"}
	case "rake":
		return []string{"Rakefile"}
	case "ninja":
		return []string{"build.ninja"}
	}
	return nil
}
