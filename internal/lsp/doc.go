// Package lsp implements a Language Server Protocol server (version 3.17) for petrigate's policies:
// rules files, net files and configurations.
//
// [Serve] serves a single editor over two streams. Whenever the user pauses typing, it publishes
// the problems that the check command would report. It also explains the statement under the
// cursor, completes keywords and names, formats documents, and lists statements. The text of an
// open document takes precedence over the file on disk. A file belongs to the nearest
// petrigate.yaml in a parent directory that lists it, or else is a policy of its own.
//
// Requests are answered in order, and none of them needs more work than parsing. Checks run one at
// a time in the goroutine of checkLoop, concurrently with requests. A change cancels the running
// check, and the next check starts when the user pauses typing. Requests and checks share only a
// state, which has its own mutex; documents and projects are immutable once the state contains
// them. The output is written through a frames value, which has another mutex.
//
// The syntax and explanation of every statement are in a single table in forms.go, used for
// completions and hovers. A grammar is a compiled form of this table, used to match the words of a
// line. A content converts between byte offsets, lines and columns in rules, and the protocol's
// UTF-16 positions.
package lsp
