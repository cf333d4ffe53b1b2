// Package stdiofront tests that a client over stdio receives the same through petrigate as without
// it. The official conformance suite supports only HTTP. Therefore, its messages are recorded on
// their way to a server over HTTP and then sent again over stdio, both to the same server directly
// and through petrigate, and the results are compared. This package's test binary does both, and
// the script suite uses it as follows:
//
//	go test -c -o stdiofront ./e2e/stdiofront
//	stdiofront record --listen 127.0.0.1:8000 --to http://127.0.0.1:9000/mcp --into FILE
//	stdiofront replay --direct COMMAND --through COMMAND FILE...
//
// A recording has one message per line. The relay forwards everything unchanged, and writes the
// file when it is told to end. The recording does not contain messages that only make sense over
// HTTP, which are those answered by a status alone.
//
// Each session of the older revision family is replayed separately, and the messages of the newer
// family together. A request is sent as soon as everything that preceded it in the recording has
// arrived again. IDs are assigned anew, and states that a server hands out (requestState) are those
// of the replay.
package stdiofront
