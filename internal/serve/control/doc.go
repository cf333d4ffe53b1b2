// Package control connects operators to running proxies: HTTP and JSON over a Unix socket of mode
// 0600 in a directory of mode 0700. Anyone who can open the socket is the operator. The proxy's MCP
// clients cannot open it.
//
// Each proxy has a [Server] with its own socket, which is named after the process. A [Client] sends
// requests to one proxy; [Find] returns clients for all of this user's running proxies and removes
// the sockets of processes that were killed. A [HookRun] is the process that an agent starts for
// each hook event; it forwards the event to the right proxy.
//
// The server handles each request in its own goroutine. Where the operating system supports it, the
// server identifies the user at the other end of a connection by the socket's peer credentials.
// Close ends requests that wait for changes at once, and all other requests after at most one
// second.
package control
