package shell

import (
	"path"
	"slices"
	"strings"
)

// files is what a script writes and runs. A program in a file is a program as
// any other, unless the script writes the file itself.
type files struct {
	written  set  // base names of the files that redirections write
	programs set  // and of those that shells and interpreters run
	system   set  // and of those written where the programs of the system are
	unknown  bool // a redirection writes a file whose name is not literal

	// What a script writes can be what a later command obeys, though no argument
	// names it: a test, a hook, a module, a configuration.
	writing bool  // something is written in the list that is read now
	obeying bool  // a program may obey the file without naming it
	strict  bool  // any file may be obeyed
	git     bool  // and it may be something that git obeys
	after   int   // the number of commands up to the first that wrote, plus one
	dashed  bool  // a file is made whose name a program may take for an option
	loops   bool  // so that a command can come before another and after it
	texts   []arg // here documents and here strings of the list that is read now
	data    []arg // what was written
	pkg     []int // commands that change package.json: npm pkg set
	writer  set   // the programs whose output is written
}

// write notes that a redirection writes a file.
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

// runsWritten notes that the script may run a program that it has written itself. If all that it
// writes are literal texts, the doubt concerns only commands in these texts.
func (f *files) runsWritten(r *reader) {
	if f.runsReplaced(r.commands) {
		r.unsure("a program that the script itself writes")
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
		r.note("a program that the script itself writes", inText)
		r.doubts[len(r.doubts)-1].spoils = true
		r.mentions.text(unquote.Replace(lines.Replace(r.outermost)), len(r.doubts)-1)
		for _, text := range f.data {
			r.mentions.add([]arg{text}, len(r.doubts)-1)
		}
	default:
		r.unsure("a program that the script itself writes")
	}
}

// compilers make programs of files that were there before.
var compilers = setOf("gcc cc clang g++ c++ clang++ rustc javac kotlinc scalac ghc ocamlopt dotnet swiftc zig nim tsc esbuild")

// textual are the programs whose output is a literal text of the script.
var textual = setOf("cat echo printf tee chmod mkdir cd python python3 node bash sh ruby perl")

// isText reports whether whatever is written to files are texts of the script.
func (f *files) isText(commands []command) bool {
	return !slices.ContainsFunc(commands, func(c command) bool {
		if c.writes() && c.name != "tee" || c.name == "cat" && len(c.args) > 0 && f.writer["cat"] {
			return true
		}
		return f.writer[c.name] && !textual[c.name]
	})
}

// runsReplaced reports whether a command that is run may be a program of the
// system which the script itself has put there: ln -s /bin/rm /usr/bin/x; x y.
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

// file returns the base name of the file that an argument names, as in of=x.
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

// writesUnknown reports whether a program may write a file that no argument
// of its own names.
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

// holds reports whether an argument holds the text.
func (c *command) holds(text string) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return strings.Contains(a.text, text) })
}

// Programs that write files which their arguments name: always, or with an option.
var (
	writers        = setOf("tee sponge dd cp mv ln install curl wget scp rsync tar unzip base64 touch xxd")
	writingOptions = map[string]string{"sed": "-i --in-place", "gsed": "-i --in-place", "git": "-o --o", "sort": "-o --o", "find": "-fprint -fls", "gfind": "-fprint -fls"}
)

// writes reports whether a program writes files that its arguments name.
func (c *command) writes() bool {
	return writers[c.name] || c.hasOption(writingOptions[c.name])
}

// list reads a part of a list, or of a pipe, with what comes before it in the
// pipe, and notes what it has written.
func (r *reader) list(at int, read func()) {
	outer := r.files.texts
	read()
	f := &r.files
	for i := at; i < len(r.commands); i++ {
		c := &r.commands[i]
		if c.maker == unasked { // lists in lists ask again
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

// obeyed reports whether a command may obey a file that was written before.
func (f *files) obeyed(commands []command) bool {
	if f.after == 0 {
		return false
	}
	if !f.loops {
		commands = commands[f.after-1:]
	}
	return slices.ContainsFunc(commands, func(c command) bool {
		return !isDeaf(c.name) && (c.name != "git" || f.git) && !modePrograms[c.name] && (f.strict || !elsewhere[c.name])
	})
}

// runsPackage reports whether a command may run a script that another command has put into package.json.
func (f *files) runsPackage(commands []command) bool {
	for i := range commands {
		if len(f.pkg) > 0 && tools[commands[i].name].files == "package.json" && !slices.Contains(f.pkg, i) {
			return true
		}
	}
	return false
}

// elsewhere are the programs that run the commands of files in containers.
var elsewhere = setOf("docker podman nerdctl docker-compose podman-compose")

var inertFiles = setOf(".log .txt .md .csv .tsv .out .err .html .diff .patch")

// isInertFile reports whether a file is one that programs do not obey.
func isInertFile(name string) bool {
	return inertFiles[strings.ToLower(path.Ext(name))] && path.Base(name) != "CMakeLists.txt" || strings.HasPrefix(name, "/dev/")
}

var (
	// makers make files, or change them.
	makers = setOf("touch cp mv ln link install tee sponge dd truncate tar unzip rename")
	// idlePrograms do not, nor do modePrograms, which change nothing but what is known of a file.
	idlePrograms = setOf(`
	mkdir rmdir rm mktemp kill killall pkill exit return break continue shift umask ulimit sync reset clear stty date pushd popd printf dig ping host
	tput help times bg fg`)
	modePrograms = setOf("chmod chown chgrp chattr mkdir")
)

// A maker says whether a command may make files, once that was asked.
type maker uint8

const (
	unasked maker = iota
	makesNone
	makesFiles
)

// makes reports whether a program may make files or change them, other than
// one that is known to do so for what it builds.
func (c *command) makes() bool {
	if makers[c.name] {
		return true
	}
	if idlePrograms[c.name] || programs[c.name].free || c.inert(&Pattern{name: word{text: c.name}}) {
		return false
	}
	t, ok := tools[c.name]
	plain := plainPrograms[c.name] && !obeyingPrograms[c.name]
	return !clients[c.name] && (c.stranger || ok && t.kind == telling || plain) // what makes a client write a file is opaque
}

// namesOption reports whether an operand looks like an option: touch -- -x.
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

// takesOptions reports whether a command may take the names of files for options.
func (c *command) takesOptions() bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return a.kind >= spread && a.text == "" })
}

// namesPartOf reports whether an argument holds the name of one of the files,
// as s.sh.gz and -os.sh do.
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
