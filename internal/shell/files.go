package shell

import (
	"path"
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

var inertFiles = setOf(".log .txt .md .csv .tsv .out .err .html .diff .patch")

// isInertFile reports whether no program obeys a file with this name.
func isInertFile(name string) bool {
	return inertFiles[strings.ToLower(path.Ext(name))] && path.Base(name) != "CMakeLists.txt" || strings.HasPrefix(name, "/dev/")
}
