// Package archtest tests the structure of the program. It checks the packages and libraries that a
// package imports against the tables in CONTRIBUTING.md. It limits the size of packages and types,
// and checks that a lock is used only in the file that declares it. It also checks that the
// exported functions and methods of some packages have Examples.
package archtest
