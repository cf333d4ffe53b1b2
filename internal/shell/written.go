package shell

import (
	"path"
	"slices"
	"strings"
)

// runsWritten adds a doubt if the script may run a program that it has written itself. If the
// script writes only literal text, the doubt concerns only the commands in this text.
func (r *findings) runsWritten() {
	f := &r.files
	if f.runsReplaced(r.commands) {
		r.doubtAll("a program that the script itself writes")
		return
	}
	if len(f.programs) == 0 {
		return
	}
	for name := range f.written {
		f.unknown = f.unknown || f.programs[name]
	}
	writes := false
	for i := range r.commands {
		switch c := &r.commands[i]; {
		case f.unknown || writes:
		case c.writes():
			writes = c.writesUnknown() || c.namesPartOf(f.programs) || slices.ContainsFunc(c.args, func(a arg) bool { return a.kind == anything })
		case c.writesUnknown():
			writes = r.strict || c.name != "patch" && c.name != "git"
			f.data = append(f.data, c.args...)
		case c.makes() && c.namesPartOf(f.programs):
			writes = r.strict || !compilers[c.name]
		}
	}
	switch {
	case !f.unknown && !writes:
	case f.isText(r.commands):
		r.addDoubt("a program that the script itself writes", inText)
		r.doubts[len(r.doubts)-1].spoils = true
		r.mentions.text(unquote.Replace(lines.Replace(r.outermost)), len(r.doubts)-1)
		r.mentions.add(f.data, len(r.doubts)-1)
	default:
		r.doubtAll("a program that the script itself writes")
	}
}

// isText reports whether everything written to files is text of the script.
func (f *files) isText(commands []command) bool {
	return !slices.ContainsFunc(commands, func(c command) bool {
		if c.writes() && c.name != "tee" || c.name == "cat" && len(c.args) > 0 && f.writer["cat"] {
			return true
		}
		return f.writer[c.name] && !textPrograms[c.name]
	})
}

// runsReplaced reports whether a command may run a system program that the script itself has put in
// place: ln -s /bin/rm /usr/bin/x; x y.
func (f *files) runsReplaced(commands []command) bool {
	for _, c := range commands {
		if !c.writes() {
			continue
		}
		for _, a := range c.args {
			clean := path.Clean(a.text)
			if a.kind == literal && isSystem(clean+"/x") && strings.HasPrefix(clean, "/") {
				return true // the command writes into a program directory, under any name
			}
			if _, value, ok := strings.Cut(a.text, "="); ok {
				clean = path.Clean(value)
			}
			if a.kind == literal && isSystem(clean) {
				f.system.add(path.Base(clean))
			}
		}
	}
	return slices.ContainsFunc(commands, func(c command) bool { return f.system[c.name] })
}

// writeFile records that a redirection writes a file.
func (r *findings) writeFile(a arg) {
	f := &r.files
	if a.kind != literal || !isInertFile(a.text) {
		f.writing = true
		f.obeying = f.obeying || a.kind != literal || r.strict || !isSource(a.text)
		f.git = f.git || a.kind != literal || isForGit(a.text)
	}
	if a.kind != literal {
		f.unknown = true
		return
	}
	f.written.add(path.Base(a.text))
	if isSystem(a.text) {
		f.system.add(path.Base(a.text))
	}
}

// element calls read for an element of a list or a pipe, and records the files written by the
// commands from index at on, which include the pipe's preceding elements.
func (r *findings) element(at int, read func()) {
	outer := r.files.texts
	read()
	f := &r.files
	for i := at; i < len(r.commands); i++ {
		c := &r.commands[i]
		if c.maker == unasked { // an inner list may already have set it
			if c.maker = makesNone; c.makes() {
				c.maker = makesFiles
			}
		}
		if c.maker == makesFiles {
			f.writing = true
			f.obeying = f.obeying || r.strict || !c.makesSources()
			f.git = f.git || slices.ContainsFunc(c.args, func(a arg) bool { return isForGit(a.text) || isForGit(a.tail) })
			f.dashed = f.dashed || c.namesOption()
		}
	}
	if f.writing {
		for _, c := range r.commands[at:] {
			f.data = append(f.data, c.args...)
			f.writer.add(c.name)
		}
		f.data = append(f.data, f.texts...)
		if f.after == 0 && f.obeying {
			f.after = len(r.commands) + 1
		}
		f.writing, f.obeying = false, false
	}
	f.texts = outer
}

// mayBeObeyed reports whether a command may obey a file that the script wrote earlier.
func (r *findings) mayBeObeyed() bool {
	f, commands := &r.files, r.commands
	if f.after == 0 {
		return false
	}
	if !f.loops {
		commands = commands[f.after-1:]
	}
	return slices.ContainsFunc(commands, func(c command) bool {
		return !isSelfContained(c.name) && (c.name != "git" || f.git) && !modePrograms[c.name] && (r.strict || !containerPrograms[c.name])
	})
}

// runsPackage reports whether a command may run a script that another command has put into
// package.json.
func (f *files) runsPackage(commands []command) bool {
	for i := range commands {
		if len(f.pkg) > 0 && tools[commands[i].name].files == "package.json" && !slices.Contains(f.pkg, i) {
			return true
		}
	}
	return false
}

// compilers are programs that build programs from existing files.
var compilers = setOf("gcc cc clang g++ c++ clang++ rustc javac kotlinc scalac ghc ocamlopt dotnet swiftc zig nim tsc esbuild")

// textPrograms are the programs whose output is literal text of the script.
var textPrograms = setOf("cat echo printf tee chmod mkdir cd python python3 node bash sh ruby perl")

// containerPrograms are the programs that run commands from files inside containers.
var containerPrograms = setOf("docker podman nerdctl docker-compose podman-compose")
