// Package archtest tests the structure of the program. It checks imports against the tables in
// CONTRIBUTING.md, limits the number of methods of a type and of locks in a struct, and warns about
// large packages. It checks that a lock is used only in the file that declares it, and that the
// exported functions and methods of some packages have Examples.
package archtest
