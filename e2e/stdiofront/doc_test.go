// Package stdiofront shows that a client over stdio gets through petrigate what
// it gets without it. The official conformance suite speaks HTTP only; so its
// messages are recorded on their way to a server over HTTP, and then sent again
// over stdio, to the same server directly and through petrigate, and what comes
// back is compared. Its test binary does both, and the script suite uses it so:
//
//	go test -c -o stdiofront ./e2e/stdiofront
//	stdiofront record --listen 127.0.0.1:8000 --to http://127.0.0.1:9000/mcp --into FILE
//	stdiofront replay --direct COMMAND --through COMMAND FILE...
//
// A recording has one message a line. The relay passes everything on as it came
// and writes the file when it is told to end. What was said to it that only HTTP
// knows (messages that were answered by a status alone) is not in it.
//
// Each session of the older era is replayed by itself, and the messages of the
// newer one together. A request is sent when what had come before it in the
// recording has come again. Ids are made anew, and states that a server hands
// out (requestState) are those of the replay.
package stdiofront
