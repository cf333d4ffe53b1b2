// Package control connects operators to running proxies. It uses HTTP and JSON over a Unix socket
// of mode 0600 in a directory of mode 0700. Anyone who can open the socket is an operator. MCP
// clients cannot reach it through the proxy, but a client that can run programs as the proxy's user
// can open it.
//
// Each proxy has a [Server] with its own socket, named after the process. A [Client] sends requests
// to one proxy; [Find] returns clients for all of the user's running proxies and removes the
// sockets of processes that were killed. A [HookRun] is the process that an agent starts for each
// hook event; it forwards the event to the right proxy.
//
// The server handles each request in its own goroutine. Where the operating system supports it, the
// server uses the peer credentials of the socket to identify the user. [Server.Close] immediately
// ends requests that are waiting for changes. It ends all others after at most one second.
package control
