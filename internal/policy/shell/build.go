package shell

import "strings"

// builder reads the tools that run what a file of the project says. Of their
// arguments, a few run something else.
func (r *reader) builder(name string, args []arg) {
	r.recognized = true
	for _, file := range buildFiles(name) {
		r.files.program(arg{text: file})
	}
	if name == "cargo" && len(args) > 0 && (args[0].text == "rustc" || args[0].text == "rustdoc") {
		r.unsure("options of the compiler, which may run a command")
	}
	for i, a := range args {
		r.buildValue(name, a)
		if a.kind == anything && i == 0 {
			r.unsure("a subcommand that is not literal")
			return
		}
		if a.kind > single {
			continue
		}
		option, value, with := strings.Cut(a.text, "=")
		switch option {
		case "exec", "x", "dlx", "explore", "--command", "script-shell":
			if name != "make" && name != "go" {
				r.launcher(args[i+1:])
			}
		case "edit", "help", "--editor", "--viewer", "--node-options", "--call":
			if isNpm(name) && (len(args) > i+1 || option != "help") {
				r.unsure("an option that may run a command")
			}
		case "pkg", "set-script":
			if name != "make" && mentionsScripts(args[i:]) {
				r.unsure("a subcommand that changes what is run")
			}
		case "run":
			if name == "go" || name == "deno" || name == "bun" {
				r.ranFiles(args[i+1:])
			}
		case "-w":
			if name == "go" {
				r.unsure("a setting that may run a command") // go env -w
			}
		case "-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool":
			if name == "go" {
				r.goTool(args[i:], value, with)
			}
		case "SHELL", ".SHELLFLAGS", "MAKEFLAGS", "MAKE", "CC", "CXX", "--eval", "--shell", "--script-shell", "-E", "eval", "--chooser", "--shell-arg", "--shell-command", "--config", "-c", "-f", "-f-", "--file", "--makefile", "-C":
			r.buildOption(name, option, args[i:])
		}
	}
}

// goTool reads go test -exec and its kin.
func (r *reader) goTool(args []arg, value string, with bool) {
	switch {
	case with && args[0].kind == literal:
		r.script(value)
	case !with && len(args) > 1:
		r.text(args[1])
	default:
		r.unsure("an option that runs a command")
	}
}

// buildOption reads an option or a variable that decides what a build tool runs.
func (r *reader) buildOption(name, option string, args []arg) {
	_, value, with := strings.Cut(args[0].text, "=")
	switch option {
	case "-C", "-c", "--config":
		if name == "cargo" && option == "--config" {
			r.unsure("an option that changes what is run")
		}
	case "-f", "--file", "--makefile":
		if with {
			r.scriptFile(arg{kind: args[0].kind, text: value, tail: args[0].tail})
		} else if len(args) > 1 {
			r.scriptFile(args[1])
		}
	case "-f-":
		r.unsure("a program that is read from the input")
	case "CC", "CXX", "MAKE":
		if with && args[0].kind == literal {
			r.script(value)
		}
	default:
		if name != "go" && name != "cargo" || option == "--eval" {
			r.unsure("an option that changes what is run")
		}
	}
}

// buildValue reads an argument of make for functions, which may run a command,
// and for options that stand among other letters.
func (r *reader) buildValue(name string, a arg) {
	switch {
	case isNpm(name) && isShortened(a.text, "--editor", "--viewer", "--node-options", "--call", "--script-shell", "--shell"):
		r.unsure("an option that may run a command")
	case name == "go" && strings.Contains(a.text+a.tail, "ext") && (strings.Contains(a.text, "flags") || strings.HasPrefix(a.text, "-ext")),
		name == "go" && strings.Contains(a.text+a.tail, " -ext"):
		r.unsure("an option that may run a command") // -ldflags=-extld=x
	}
	if name != "make" && name != "gmake" {
		return
	}
	switch {
	case strings.Contains(a.text, "$"), strings.Contains(a.tail, "$"):
		r.unsure("a text that make expands") // X='$(shell rm x)'
	case a.kind != literal && strings.Contains(a.text, "="):
		r.vars.made = true
	case strings.HasPrefix(a.text, "--") && isShortened(a.text, "--eval", "--file", "--makefile"):
		r.unsure("an option that changes what is run")
	case isCluster(a.text) && strings.Contains(a.text, "f") && a.text != "-f":
		r.unsure("an option that changes what is run") // -kf x
	}
}

// isNpm reports whether a program is npm or one of its kin.
func isNpm(name string) bool { return name == "npm" || name == "pnpm" || name == "yarn" }

// isShortened reports whether an option is one of those, cut short.
func isShortened(text string, options ...string) bool {
	name, _, _ := strings.Cut(text, "=")
	for _, o := range options {
		if name != o && shortens(name, o) {
			return true
		}
	}
	return false
}

// mentionsScripts reports whether npm pkg set is about scripts, as npm set-script is.
func mentionsScripts(args []arg) bool {
	for _, a := range args {
		if a.kind != literal || strings.Contains(a.text, "script") {
			return true
		}
	}
	return false
}

// isCluster reports whether an argument is letters behind one dash.
func isCluster(text string) bool {
	return len(text) > 1 && text[0] == '-' && text[1] != '-'
}

// ranFiles reads the files that go run and its kin run. What is fetched, or
// stands in the address itself, is on no disk.
func (r *reader) ranFiles(args []arg) {
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.text, "-") && a.text != "-":
		case a.text == "-", isData(a.text), strings.Contains(a.text, "://"):
			r.unsure("a program that is in no file")
			return
		default:
			r.scriptFile(a)
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
