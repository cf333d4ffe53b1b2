// Package lsp implements a Language Server Protocol server (version 3.17) for petrigate's policies:
// rules files, net files and configurations.
//
// [Serve] serves a single editor over two streams. Whenever the user pauses typing, it publishes
// the problems that the check command would report. It also explains the statement under the
// cursor, completes keywords and names, formats documents, and lists statements. The text of an
// open document takes precedence over the file on disk.
//
// A file belongs to the policy of the nearest petrigate.yaml that lists it, in the file's directory
// or a parent directory. A file that no petrigate.yaml lists is a policy of its own.
//
// Requests are answered in order. Checks run one at a time in the goroutine of checkLoop,
// concurrently with requests. A change cancels the running check, and the next check starts when
// the user pauses typing. Requests and checks share nothing but a [state], which is protected by a
// mutex. Documents and policies are immutable once the state contains them. All output is written
// by the methods of [frames], which has a mutex of its own.
//
// The table in forms.go contains the syntax and explanation of every statement. It is used for
// completions and hovers. A [grammar] is a compiled form of the table that matches the words of a
// line. A [content] is the text of a document. It converts between byte offsets, line and column
// numbers, and the protocol's UTF-16 positions.
package lsp
