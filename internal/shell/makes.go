package shell

import (
	"path"
	"slices"
	"strings"
)

var (
	// makers lists the programs that create or change files.
	makers = setOf("touch cp mv ln link install tee sponge dd truncate tar unzip rename")
	// idlePrograms lists programs that do not create files. modePrograms lists programs that change
	// only the metadata of files.
	idlePrograms = setOf(`
	mkdir rmdir rm mktemp kill killall pkill exit return break continue shift umask ulimit sync reset clear stty date pushd popd printf dig ping host
	tput help times bg fg`)
	modePrograms = setOf("chmod chown chgrp chattr mkdir")
)

// makes reports whether a program may create or change files. It returns false for build tools, on
// the assumption that they write only the results of the build. It also returns false for git,
// interpreters and formatters, although they may change files.
func (c *command) makes() bool {
	if makers[c.name] {
		return true
	}
	if idlePrograms[c.name] || programs[c.name].free || c.inert(&Pattern{name: word{text: c.name}}) {
		return false
	}
	t, ok := tools[c.name]
	plain := plainPrograms[c.name] && !configurable[c.name]
	return !clients[c.name] && (c.unlisted || ok && t.kind == optionTool || plain) // clients such as psql do not count, because readClientInput checks their input
}

// makesSources reports whether the command is in makers and its arguments name only source files;
// see [isSource].
func (c *command) makesSources() bool {
	return makers[c.name] && !slices.ContainsFunc(c.args, func(a arg) bool {
		return a.kind != literal || !strings.HasPrefix(a.text, "-") && !isSource(a.text) || strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "=")
	})
}

// namesOption reports whether any argument names a file whose base name begins with a dash, as in
// touch -- -x.
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

// takesOptions reports whether the command may interpret file names that begin with a dash as
// options, as in rm *.
func (c *command) takesOptions() bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return a.kind >= spread && a.text == "" })
}

// namesPartOf reports whether any argument contains one of the file names. For example, both
// s.sh.gz and -os.sh contain s.sh.
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

// writesUnknown reports whether a program may write a file not named by any of its arguments.
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

// hasOption reports whether any argument begins with any of the options.
func (c *command) hasOption(options string) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return begins(a.text, options) })
}

// holds reports whether any argument contains the given text.
func (c *command) holds(text string) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return strings.Contains(a.text, text) })
}

// Programs that write the files named by their arguments. The programs in writingOptions do this
// only if they have one of the listed options.
var (
	writers        = setOf("tee sponge dd cp mv ln install curl wget scp rsync tar unzip base64 touch xxd")
	writingOptions = map[string]string{"sed": "-i --in-place", "gsed": "-i --in-place", "git": "-o --o", "sort": "-o --o", "find": "-fprint -fls", "gfind": "-fprint -fls"}
)

// writes reports whether a program writes files that its arguments name.
func (c *command) writes() bool {
	return writers[c.name] || c.hasOption(writingOptions[c.name])
}
