// Package shell parses a shell script as text and answers three questions about it: could it run a
// given command, does its success prove that the command succeeded, and does it do nothing else. It
// never runs the script, opens a file or looks up a program.
//
// It implements the `runs` condition of a policy:
//
//	map bash.command runs rm as delete
//
// A word boundary in a regular expression finds "rm" in `echo "rm"` and misses it in `r\m`. This
// package parses the script ([mvdan.cc/sh]) and lists its commands: those in pipelines, lists,
// loops, functions, substitutions and here documents, and those that other programs run on its
// behalf (`sudo`, `env`, `xargs`, `find -exec`, `sh -c`, `trap`, `npx`, ...).
//
//	r := shell.Read(`cd app && npm test 2>&1 | tail -30`)
//	test, err := shell.Compile([]string{"npm", "test"}, false)
//	r.Runs(test)   // could it run? Match, Opaque or NoMatch
//	r.Surely(test) // does exit status 0 prove that it ran and succeeded? No: the pipe hides it
//	r.Only(test)   // does the script do nothing else?
//
// The answer Opaque or false comes with a [Doubt]: the construct that caused it, the command that
// contains it, and what to write instead. The Doubt of Surely is empty if no command in the script
// may match. [Reading.Touches] reports whether a script explicitly reads or writes a file.
//
// # Design
//
// [Options.Read] walks the syntax tree and returns a [Reading]: the commands, and a doubt for each
// part that was not understood. A doubt that affects every command makes the reading opaque: a
// command that certainly runs still matches, but no command can be ruled out. The walk follows
// control flow, variable values, functions and aliases only where they are certain. Whatever it
// does not understand becomes a doubt. The work is bounded, and a script that exceeds a bound is
// opaque.
//
// The walk has four layers, each embedding the one before: findings collects commands, doubts and
// files (findings.go, written.go), scope adds variables (scope.go, variable.go, values.go),
// expander adds the expansion of words (word.go, arithm.go, assign.go), and reader adds statements,
// functions and commands (walk.go, function.go, builtin.go, shells.go, run.go). The reader's files
// depend on one another, because the shell language is recursive. For programs such as git, find
// and sudo, functions read the arguments and return a plan (plan.go), which the reader carries out
// (git.go, find.go, languages.go, readtool.go, wrapper.go). Control flow is in flow.go. Matching
// commands against patterns is in match.go; the answers are in runs.go, success.go, only.go and
// touched.go.
//
// # Tables
//
// Knowledge about programs is in tables, and adding a program means adding entries to them:
// options and operands in programs.go, subcommands in subcommands.go, aliases in alias.go, wrappers
// such as sudo in wrapper.go, launchers such as npx in launchers.go, programs that take commands
// from their arguments or a project file in tools.go, files read and written in filetable.go,
// operands that do not limit a test run in tests.go, and advice for each kind of doubt in doubt.go.
//
// # Concurrency
//
// The package starts no goroutines and holds no locks. A [Reading] is immutable and safe for
// concurrent use. The options in a table are parsed on first use, under [sync.OnceValue].
package shell
