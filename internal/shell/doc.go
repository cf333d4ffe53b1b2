// Package shell reads a shell script as text and answers three questions about it. Nothing is
// run, opened or looked up.
//
// It is what stands behind
//
//	map bash.command runs rm as delete
//
// A word boundary in a regular expression finds "rm" in `echo "rm"` and misses
// it in `r”m`. This package parses the script ([mvdan.cc/sh]) and lists its
// commands: those of pipes, lists, loops, functions, substitutions and here
// documents, and those that other programs are asked to run (`sudo`, `env`,
// `xargs`, `find -exec`, `sh -c`, `trap`, `npx`, ...).
//
//	r := shell.Read(`cd app && npm test 2>&1 | tail -30`)
//	test, err := shell.Compile([]string{"npm", "test"}, false)
//	r.Runs(test)   // could it run? Match, Opaque or NoMatch
//	r.Surely(test) // has it been run with success, if the script succeeded? No: the pipe hides it
//	r.Only(test)   // does the script do nothing else?
//
// Each answer that is no has its reason: what, in which command, and what to write instead. [Reading.Touches]
// says which files a script openly reads and writes.
//
// # Where a program belongs
//
// What is known of programs stands in tables, one file each, and a new program is one entry: options and operands in
// programs.go, subcommands in subcommands.go, their other names in alias.go, wrappers as sudo in wrapper.go, launchers as npx in
// launchers.go, programs that a file of the project tells what to run in tool.go, files read and written in
// filetable.go, which operands leave a test a test in tests.go, and what to write instead of what is doubted in advice.go.
//
// The walk through the script is in walk.go, word.go and run.go; what is certain on the way in flow.go. The answers
// are in runs.go, success.go, only.go and touched.go.
//
// A [Reading] never changes once it is made; any number of goroutines may ask it.
package shell
