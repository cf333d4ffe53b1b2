// Package shell reads a shell script as text and says which commands bash
// would run if it were given the script. Nothing is run, opened or looked up.
//
// It is what stands behind
//
//	map bash.command runs rm as delete
//
// A word boundary in a regular expression finds "rm" in `echo "rm"` and misses
// it in `r”m`. This package parses the script ([mvdan.cc/sh]) and lists its
// commands: those of pipes, lists, loops, functions, substitutions and here
// documents, and those that other programs are asked to run (`sudo`, `env`,
// `xargs`, `find -exec`, `sh -c`, `trap`, ...).
//
//	r := shell.Read(`cd /tmp && sudo -u me find . -name '*.o' -exec rm {} +`)
//	p, err := shell.Compile([]string{"rm"})
//	r.Runs(p) // Match
//
// The answer has three values. What cannot be read with certainty (a script that
// does not parse, a command word such as `$X`, a program in another language, a
// wrapper with an option that the table does not know) is [Opaque]: bash may
// run the command, or not. [NoMatch] means that bash certainly does not.
//
// A [Reading] never changes once it is made; any number of goroutines may ask it.
package shell
