// Package archtest tests the structure of the program. It checks which package may import which
// (the table in CONTRIBUTING.md), which package may use which library, the size of packages and
// types, that a lock is used only in the file that declares its type, and that entry points have an
// Example.
package archtest
