// Package archtest tests the structure of the program. It checks which packages and libraries a
// package may import (see the table in CONTRIBUTING.md), and limits the size of packages and types.
// It also checks that a lock is used only in the file that declares its type, and that entry points
// have an Example.
package archtest
