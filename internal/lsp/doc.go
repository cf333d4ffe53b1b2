// Package lsp implements a Language Server Protocol server (version 3.17) for petrigate's policies:
// rules files, net files and configurations.
//
// [Serve] serves a single editor over two streams. While the user is typing, it publishes the
// problems that the check command reports. It also explains the statement under the cursor,
// completes keywords and names, formats documents, and lists statements. The text of an open
// document takes precedence over the file on disk. A file belongs to the nearest petrigate.yaml in
// a parent directory that lists it. A file that no configuration lists is a policy of its own.
//
// Requests are answered in order and need at most a parse. Checks run concurrently with requests,
// one at a time, in the goroutine of checkLoop: a change cancels the running check, and the next
// check starts when the user pauses typing. Requests and checks share only a state, which is
// guarded by its own mutex; documents and projects are immutable once the state contains them. A
// frames value guards its output with a separate mutex.
//
// The explanation and the grammar of every statement are in a single table in forms.go, which is
// used for completion, for hovers, and for explaining statements. A grammar is the compiled form of
// this table, and its match method matches it against the words in a line. A content converts
// between byte offsets, lines and columns in rules, and the protocol's UTF-16 positions.
package lsp
