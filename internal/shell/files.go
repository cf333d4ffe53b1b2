package shell

import (
	"path"
	"slices"
	"strings"
)

// files is what a script writes and runs. A program in a file is a program as
// any other, unless the script writes the file itself.
type files struct {
	written  []string // base names of the files that redirections write
	programs []string // and of those that shells and interpreters run
	unknown  bool     // a redirection writes a file whose name is not literal
}

// write notes that a redirection writes a file.
func (f *files) write(a arg) {
	if a.kind != literal {
		f.unknown = true
		return
	}
	f.written = append(f.written, path.Base(a.text))
}

// program notes that a file is run.
func (f *files) program(a arg) {
	f.programs = append(f.programs, a.file())
}

// runsWritten reports whether a program that is run may be one that was written.
func (f *files) runsWritten(commands []command) bool {
	if len(f.programs) == 0 {
		return false
	}
	if f.unknown {
		return true
	}
	programs := make(map[string]bool, len(f.programs))
	for _, name := range f.programs {
		programs[name] = true
	}
	if slices.ContainsFunc(f.written, func(name string) bool { return programs[name] }) {
		return true
	}
	for _, c := range commands {
		if !writes(c.name) || c.name == "sed" && !c.hasOption("-i", "--in-place") {
			continue
		}
		for _, a := range c.args {
			if a.kind == anything || programs[a.file()] {
				return true
			}
		}
	}
	return false
}

// hasOption reports whether an argument begins with one of the options.
func (c *command) hasOption(options ...string) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool {
		return slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(a.text, o) })
	})
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
	return path.Base(text)
}

// writes reports whether a program writes the files that its arguments name.
func writes(name string) bool {
	switch name {
	case "tee", "sponge", "dd", "cp", "mv", "ln", "install", "curl", "wget", "scp", "rsync", "sed", "tar", "unzip", "base64", "touch", "patch":
		return true
	}
	return false
}
