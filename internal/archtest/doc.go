// Package archtest holds the structure of the program by tests: which package may
// import which (the one table of CONTRIBUTING.md), which package knows which library,
// how large a package and a type may be, that a lock is touched in the file of its
// type only, and that what others start from has an Example.
package archtest
