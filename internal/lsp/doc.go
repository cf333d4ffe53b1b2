// Package lsp serves the Language Server Protocol for the policies of petrigate:
// files of rules, nets and configurations.
//
// [Serve] answers one editor over two streams. It reports what "check" reports as
// the user types, says what a statement means under the cursor, completes keywords
// and names, formats, and lists statements. A text that is open in the editor stands
// for the file on the disk. Which policy a file belongs to is decided by the nearest
// petrigate.yaml above it that lists it; a file that none lists is a policy of its own.
//
// Requests are answered in their order and need a parse at most. Checks run beside
// them, one at a time: a change ends the one that runs, and begins the next when
// nobody has typed for a moment.
//
// What a keyword means and where it may stand is in one table, forms.go: completion,
// hover and the sentences about statements come from it.
package lsp
