package shell

import (
	"path"
	"slices"
	"strings"
)

// runsWritten checks whether the script may run a program that it has written itself. If so, it
// records that any command may run. If the script writes only literal text to files and replaces no
// system program, runsWritten instead records that only commands named in the script may run.
func (f *findings) runsWritten() {
	w := &f.files
	if w.runsReplaced(f.commands) {
		f.doubtAll("a program that the script itself writes")
		return
	}
	if len(w.programs) == 0 {
		return
	}
	for name := range w.written {
		w.unknown = w.unknown || w.programs[name]
	}
	writes := false
	for i := range f.commands {
		switch c := &f.commands[i]; {
		case w.unknown || writes:
		case c.writes():
			writes = c.writesUnknown() || c.namesPartOf(w.programs) || slices.ContainsFunc(c.args, func(a arg) bool { return a.kind == anything })
		case c.writesUnknown():
			writes = f.strict || c.name != "patch" && c.name != "git"
			w.data = append(w.data, c.args...)
		case c.makes() && c.namesPartOf(w.programs):
			writes = f.strict || !compilers[c.name]
		}
	}
	switch {
	case !w.unknown && !writes:
	case w.isText(f.commands):
		f.addDoubt("a program that the script itself writes", inText)
		f.doubts[len(f.doubts)-1].spoils = true
		f.mentions.addText(unquote.Replace(spaceEscapes.Replace(f.outermost)), len(f.doubts)-1)
		f.mentions.add(w.data, len(f.doubts)-1)
	default:
		f.doubtAll("a program that the script itself writes")
	}
}

// isText reports whether everything written to files is literal text from the script.
func (f *fileUse) isText(commands []command) bool {
	return !slices.ContainsFunc(commands, func(c command) bool {
		if c.writes() && c.name != "tee" || c.name == "cat" && len(c.args) > 0 && f.writer["cat"] {
			return true
		}
		return f.writer[c.name] && !textPrograms[c.name]
	})
}

// runsReplaced reports whether any command may run a program that the script has put into a program
// directory, as in ln -s /bin/rm /usr/bin/x; x y.
func (f *fileUse) runsReplaced(commands []command) bool {
	for _, c := range commands {
		if !c.writes() {
			continue
		}
		for _, a := range c.args {
			clean := path.Clean(a.text)
			if a.kind == literal && isSystem(clean+"/x") && strings.HasPrefix(clean, "/") {
				return true // the command writes into a program directory, so the file may have any name
			}
			clean = path.Clean(a.text[strings.IndexByte(a.text, '=')+1:])
			if a.kind == literal && isSystem(clean) {
				f.system.add(path.Base(clean))
			}
		}
	}
	return slices.ContainsFunc(commands, func(c command) bool { return f.system[c.name] })
}

// writeFile records that a redirection writes to the file named by a.
func (f *findings) writeFile(a arg) {
	w := &f.files
	if a.kind != literal || !isInertFile(a.text) {
		w.writing = true
		w.obeying = w.obeying || a.kind != literal || f.strict || !isSource(a.text)
		w.git = w.git || a.kind != literal || isGitFile(a.text)
	}
	if a.kind != literal {
		w.unknown = true
		return
	}
	w.written.add(path.Base(a.text))
	if isSystem(a.text) {
		w.system.add(path.Base(a.text))
	}
}

// element calls the function read, which reads one element of a list or pipeline. It then checks
// the commands from the given index on. If a command may write a file, element records the text
// that may end up in the file, such as arguments and here documents. In a pipeline, the index must
// be that of the first command, because the text may come from an earlier element.
func (f *findings) element(at int, read func()) {
	outer := f.files.texts
	read()
	w := &f.files
	for i := at; i < len(f.commands); i++ {
		c := &f.commands[i]
		if c.makesCache == unasked { // the command may already have been examined, in a nested list or with an earlier element of the pipeline
			if c.makesCache = makesNone; c.makes() {
				c.makesCache = makesFiles
			}
		}
		if c.makesCache == makesFiles {
			w.writing = true
			w.obeying = w.obeying || f.strict || !c.makesSources()
			w.git = w.git || slices.ContainsFunc(c.args, func(a arg) bool { return isGitFile(a.text) || isGitFile(a.tail) })
			w.dashed = w.dashed || c.namesOption()
		}
	}
	if w.writing {
		for _, c := range f.commands[at:] {
			w.data = append(w.data, c.args...)
			w.writer.add(c.name)
		}
		w.data = append(w.data, w.texts...)
		if w.after == 0 && w.obeying {
			w.after = len(f.commands) + 1
		}
		w.writing, w.obeying = false, false
	}
	w.texts = outer
}

// mayBeObeyed reports whether any command may run or load a file that the script wrote earlier,
// such as a hook, a module or a configuration, although no argument names the file.
func (f *findings) mayBeObeyed() bool {
	w, commands := &f.files, f.commands
	if w.after == 0 {
		return false
	}
	if !w.loops {
		commands = commands[w.after-1:]
	}
	return slices.ContainsFunc(commands, func(c command) bool {
		return !isSelfContained(c.name) && (c.name != "git" || w.git) && !modePrograms[c.name] && (f.strict || !containerPrograms[c.name])
	})
}

// runsPackage reports whether a command may run a script that another command has written into
// package.json.
func (f *fileUse) runsPackage(commands []command) bool {
	for i := range commands {
		if len(f.pkg) > 0 && tools[commands[i].name].files == "package.json" && !slices.Contains(f.pkg, i) {
			return true
		}
	}
	return false
}

// compilers lists the programs that build programs from existing files.
var compilers = setOf("gcc cc clang g++ c++ clang++ rustc javac kotlinc scalac ghc ocamlopt dotnet swiftc zig nim tsc esbuild")

// textPrograms lists the programs that are assumed to print only literal text from the script.
var textPrograms = setOf("cat echo printf tee chmod mkdir cd python python3 node bash sh ruby perl")

// containerPrograms lists programs that run commands in containers. Unless [Options.Strict] is set,
// these commands are assumed not to use files that the script has written.
var containerPrograms = setOf("docker podman nerdctl docker-compose podman-compose")
