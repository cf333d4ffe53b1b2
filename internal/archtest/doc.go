// Package archtest tests the structure of the program. It checks the packages and libraries that a
// package imports against the tables in CONTRIBUTING.md. It limits the number of methods of a type
// and the number of locks in a struct, but only warns about large packages. It checks that a lock
// is used only in the file that declares it. It also checks that the exported functions and methods
// of some packages have Examples.
package archtest
