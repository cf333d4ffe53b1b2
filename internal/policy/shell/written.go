package shell

import (
	"path"
	"slices"
	"strings"
)

// list reads a part of a list, or of a pipe, with what comes before it in the
// pipe, and notes what it has written.
func (r *reader) list(at int, read func()) {
	outer := r.files.texts
	read()
	f := &r.files
	for i := at; i < len(r.commands); i++ {
		c := &r.commands[i]
		if c.makes() {
			f.writing = true
			f.git = f.git || c.holds(".git") || c.holds("hook")
			f.dashed = f.dashed || c.namesOption()
		}
	}
	if f.writing {
		for i := at; i < len(r.commands); i++ {
			f.data.add(r.commands[i].args)
		}
		f.data.add(f.texts)
		if f.after == 0 {
			f.after = len(r.commands) + 1
		}
		f.writing = false
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
		return !isDeaf(c.name) && (c.name != "git" || f.git) && !modePrograms[c.name]
	})
}

var inertFiles = setOf(".log .txt .md .csv .tsv .out .err .html .diff .patch")

// isInertFile reports whether a file is one that programs do not obey.
func isInertFile(name string) bool {
	return inertFiles[strings.ToLower(path.Ext(name))] && path.Base(name) != "CMakeLists.txt" || strings.HasPrefix(name, "/dev/")
}

// isForGit reports whether git may obey a file with this name.
func isForGit(name string) bool {
	return strings.Contains(name, ".git") && path.Base(name) != ".gitignore" || strings.Contains(name, "hook") || strings.Contains(path.Base(name), "config")
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

// makes reports whether a program may make files or change them, other than
// one that is known to do so for what it builds.
func (c *command) makes() bool {
	if makers[c.name] {
		return true
	}
	if idlePrograms[c.name] || programs[c.name].free || c.inert(Pattern{name: c.name}) {
		return false
	}
	t, ok := tools[c.name]
	return !clients[c.name] && (c.stranger || ok && t.kind == telling || plainPrograms[c.name] && !obeyingPrograms[c.name]) // what makes a client write a file is opaque
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
