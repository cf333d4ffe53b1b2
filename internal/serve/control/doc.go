// Package control connects operators to running proxies: HTTP and JSON over a Unix socket of mode
// 0600 in a directory of mode 0700. Anyone who can open the socket is the operator. The clients of
// a proxy cannot open it.
//
// Each proxy has a [Server] with its own socket, which is named after the process. A [Client] sends
// requests to one proxy; [Find] returns clients for all running proxies of this user and removes
// the sockets of processes that were killed. A [HookRun] is the process that an agent starts for
// one event of its hooks; it forwards the event to the right proxy.
//
// The server serves each request in its own goroutine. It identifies the user at the other end of a
// connection by the peer credentials of the socket, where the system supports them. Close ends
// requests that follow changes at once, and other requests after a second.
package control
