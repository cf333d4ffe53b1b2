package shell

import (
	"path"
	"slices"
	"strings"
)

// files records what a script writes and runs. A program in a file is treated like any other
// program, unless the script itself writes the file.
type files struct {
	written  set  // base names of files written by redirections
	programs set  // base names of files run by shells and interpreters
	system   set  // base names of files written to system program directories
	unknown  bool // a redirection writes a file whose name is not literal

	// A later command may obey what the script writes, even if no argument names it: a test, a
	// hook, a module, a configuration.
	writing bool  // the current list writes a file
	obeying bool  // a program may obey the file without naming it
	strict  bool  // assume that any file may be obeyed
	git     bool  // git may obey the file
	after   int   // number of commands up to the first that wrote a file, plus one
	dashed  bool  // a file is created whose name a program may take for an option
	loops   bool  // there is a loop or a function, so that a command can run both before and after another
	texts   []arg // here documents and here strings of the current list
	data    []arg // texts written to files
	pkg     []int // indices of commands that change package.json: npm pkg set
	writer  set   // programs whose output is written
}

// write records that a redirection writes a file.
func (f *files) write(a arg) {
	if a.kind != literal || !isInertFile(a.text) {
		f.writing = true
		f.obeying = f.obeying || a.kind != literal || f.strict || !isSource(a.text)
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

// runsWritten adds a doubt if the script may run a program that it has written itself. If the
// script writes only literal text, the doubt concerns only commands in this text.
func (f *files) runsWritten(r *reader) {
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
		for _, text := range f.data {
			r.mentions.add([]arg{text}, len(r.doubts)-1)
		}
	default:
		r.doubtAll("a program that the script itself writes")
	}
}

// compilers build programs from files that existed before.
var compilers = setOf("gcc cc clang g++ c++ clang++ rustc javac kotlinc scalac ghc ocamlopt dotnet swiftc zig nim tsc esbuild")

// textual are the programs whose output is literal text of the script.
var textual = setOf("cat echo printf tee chmod mkdir cd python python3 node bash sh ruby perl")

// isText reports whether everything written to files is text of the script.
func (f *files) isText(commands []command) bool {
	return !slices.ContainsFunc(commands, func(c command) bool {
		if c.writes() && c.name != "tee" || c.name == "cat" && len(c.args) > 0 && f.writer["cat"] {
			return true
		}
		return f.writer[c.name] && !textual[c.name]
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
				return true // into a directory, under any name
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

// file returns the base name of the file that an argument names. The argument may be a setting such
// as of=x.
func (a arg) file() string {
	text := a.text
	if a.kind != literal {
		text = a.tail
	}
	if _, value, ok := strings.Cut(text, "="); ok {
		text = value
	}
	return path.Base(text[strings.LastIndexByte(text, ':')+1:]) // host:x
}

// writesUnknown reports whether a program may write a file that none of its arguments names.
func (c *command) writesUnknown() bool {
	switch c.name {
	case "awk", "gawk", "mawk", "nawk":
		return c.holds(">") && c.holds("print")
	case "cp", "mv", "ln", "install":
		return c.hasOption("-b -S --b --s")
	case "patch":
		return !c.hasOption("--dry-run")
	case "git":
		return len(c.args) > 0 && c.args[0].text == "apply"
	}
	return c.name == "split" || c.name == "csplit"
}

// hasOption reports whether an argument begins with one of the options.
func (c *command) hasOption(options string) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return begins(a.text, options) })
}

// holds reports whether an argument contains the text.
func (c *command) holds(text string) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return strings.Contains(a.text, text) })
}

// Programs that write the files named by their arguments: always, or only with an option.
var (
	writers        = setOf("tee sponge dd cp mv ln install curl wget scp rsync tar unzip base64 touch xxd")
	writingOptions = map[string]string{"sed": "-i --in-place", "gsed": "-i --in-place", "git": "-o --o", "sort": "-o --o", "find": "-fprint -fls", "gfind": "-fprint -fls"}
)

// writes reports whether a program writes files named by its arguments.
func (c *command) writes() bool {
	return writers[c.name] || c.hasOption(writingOptions[c.name])
}

// element reads an element of a list or of a pipe with read, and records the files written by all
// commands from index at on, which include the preceding elements of the pipe.
func (r *reader) element(at int, read func()) {
	outer := r.files.texts
	read()
	f := &r.files
	for i := at; i < len(r.commands); i++ {
		c := &r.commands[i]
		if c.maker == unasked { // an inner list may have set it already
			if c.maker = makesNone; c.makes() {
				c.maker = makesFiles
			}
		}
		if c.maker == makesFiles {
			f.writing = true
			f.obeying = f.obeying || f.strict || !c.makesSources()
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
func (f *files) mayBeObeyed(commands []command) bool {
	if f.after == 0 {
		return false
	}
	if !f.loops {
		commands = commands[f.after-1:]
	}
	return slices.ContainsFunc(commands, func(c command) bool {
		return !isSelfContained(c.name) && (c.name != "git" || f.git) && !modePrograms[c.name] && (f.strict || !elsewhere[c.name])
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

// elsewhere are the programs that run commands from files inside containers.
var elsewhere = setOf("docker podman nerdctl docker-compose podman-compose")

var inertFiles = setOf(".log .txt .md .csv .tsv .out .err .html .diff .patch")

// isInertFile reports whether no program obeys a file with this name.
func isInertFile(name string) bool {
	return inertFiles[strings.ToLower(path.Ext(name))] && path.Base(name) != "CMakeLists.txt" || strings.HasPrefix(name, "/dev/")
}

var (
	// makers create or change files.
	makers = setOf("touch cp mv ln link install tee sponge dd truncate tar unzip rename")
	// idlePrograms create no files. modePrograms change only the metadata of files.
	idlePrograms = setOf(`
	mkdir rmdir rm mktemp kill killall pkill exit return break continue shift umask ulimit sync reset clear stty date pushd popd printf dig ping host
	tput help times bg fg`)
	modePrograms = setOf("chmod chown chgrp chattr mkdir")
)

// A maker is the cached result of [command.makes].
type maker uint8

const (
	unasked maker = iota
	makesNone
	makesFiles
)

// makes reports whether a program may create or change files. Build tools, which are known to write
// only what they build, do not count.
func (c *command) makes() bool {
	if makers[c.name] {
		return true
	}
	if idlePrograms[c.name] || programs[c.name].free || c.inert(&Pattern{name: word{text: c.name}}) {
		return false
	}
	t, ok := tools[c.name]
	plain := plainPrograms[c.name] && !configurable[c.name]
	return !clients[c.name] && (c.unlisted || ok && t.kind == optionTool || plain) // a client that writes a file has already added a doubt
}

// namesOption reports whether an operand names a file that looks like an option: touch -- -x.
func (c *command) namesOption() bool {
	behind := false
	for _, a := range c.args {
		if strings.HasPrefix(path.Base(a.text), "-") && (behind || strings.Contains(a.text, "/")) {
			return true
		}
		behind = behind || a.text == "--"
	}
	return false
}

// takesOptions reports whether a command may take file names for options.
func (c *command) takesOptions() bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return a.kind >= spread && a.text == "" })
}

// namesPartOf reports whether an argument contains the name of one of the files, as s.sh.gz and
// -os.sh do.
func (c *command) namesPartOf(files set) bool {
	for _, a := range c.args {
		file := a.file()
		for name := range files {
			if file == name || name != "" && name != "." && (strings.Contains(a.text, name) || strings.Contains(a.tail, name)) {
				return true
			}
		}
	}
	return false
}
