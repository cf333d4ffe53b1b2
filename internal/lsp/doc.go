// Package lsp implements a server of the Language Server Protocol 3.17 for petrigate's policies:
// files of rules, nets and configurations.
//
// [Serve] serves one editor over two streams. It publishes the problems that the check command
// reports as the user types, explains the statement under the cursor, completes keywords and names,
// formats, and lists statements. The text of an open document takes precedence over the file on the
// disk. A file belongs to the nearest petrigate.yaml in a parent directory that lists it; a file
// that none of them lists is a policy of its own.
//
// Requests are answered in order and need at most a parse. Checks run concurrently with them, one
// at a time, in the goroutine of checkLoop: a change cancels the running check, and the next one
// starts when the user pauses typing. Requests and checks share only a state, which its mutex
// guards; documents and projects are immutable once they are in it. A frames value guards its
// output with a mutex of its own.
//
// The explanation and the grammar of every statement are in a single table in forms.go, which
// completion, hover and the explanations of statements use. A grammar is that table in compiled
// form; match fits it to the words of a line. A content converts between byte offsets, lines and
// columns of rules, and the UTF-16 positions of the protocol.
package lsp
