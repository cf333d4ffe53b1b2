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
	from := f.after - 1
	if f.loops {
		from = 0
	}
	for i := from; i < len(commands); i++ {
		c := &commands[i]
		if !isDeaf(c.name) && (c.name != "git" || f.git) && !c.changesModes() {
			return true
		}
	}
	return false
}

// isInertFile reports whether a file is one that programs do not obey.
func isInertFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".log", ".txt", ".md", ".csv", ".tsv", ".out", ".err", ".html", ".diff", ".patch":
		return path.Base(name) != "CMakeLists.txt"
	}
	return strings.HasPrefix(name, "/dev/")
}

// isForGit reports whether git may obey a file with this name.
func isForGit(name string) bool {
	return strings.Contains(name, ".git") && path.Base(name) != ".gitignore" || strings.Contains(name, "hook") || strings.Contains(path.Base(name), "config")
}

// makes reports whether a program may make files or change them, other than
// one that is known to do so for what it builds.
func (c *command) makes() bool {
	switch c.name {
	case "touch", "cp", "mv", "ln", "link", "install", "tee", "sponge", "dd", "truncate", "tar", "unzip", "rename":
		return true
	case "mkdir", "rmdir", "rm", "mktemp", "kill", "killall", "pkill", "exit", "return", "break", "continue", "shift", "umask", "ulimit", "sync", "reset", "clear", "stty", "date", "pushd", "popd", "printf", "dig", "ping", "host", "tput", "help", "times", "bg", "fg":
		return false
	}
	if c.changesModes() || programs[c.name].free || c.inert(Pattern{name: c.name}) {
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

// changesModes reports whether a program changes nothing but what is known of a file.
func (c *command) changesModes() bool {
	switch c.name {
	case "chmod", "chown", "chgrp", "chattr", "mkdir":
		return true
	}
	return false
}

// namesPartOf reports whether an argument holds the name of one of the files,
// as s.sh.gz and -os.sh do.
func (c *command) namesPartOf(files []string) bool {
	for _, a := range c.args {
		for _, name := range files {
			if name != "" && name != "." && (strings.Contains(a.text, name) || strings.Contains(a.tail, name)) {
				return true
			}
		}
	}
	return false
}
