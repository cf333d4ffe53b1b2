// Package proxy implements an MCP proxy that forwards a tool call to its server only if the policy
// allows the call.
//
// A [Proxy] connects clients with upstreams, which are the MCP servers behind it. Clients use stdio
// ([Proxy.ServeStdio]), or streamable HTTP or HTTP+SSE ([Proxy.Handler]). Package rev describes how
// the supported revisions of the protocol differ. A call (tools/call, prompts/get or resources/read)
// goes through package pipeline: the nets of the client's session decide on the call, a person is
// asked if a net requires approval, the decision is recorded, the call is forwarded, its outcome is
// recorded, the markings of the nets are updated, and the client is answered.
//
// Package relay forwards requests that are not calls. Package reverse forwards servers' requests to
// clients, even if the protocol revisions of a server and a client differ.
//
// Tools, calls and results are forwarded byte for byte, except for the few members that the proxy
// must change, such as the name of a tool. A client's message is parsed strictly, and only once, so
// that the nets, the person who approves a call, and the upstream all get the same values. mcp-go
// implements the handshakes.
//
// Operators watch and control a running proxy with the methods in operate.go and the files next to
// it. Clients cannot reach these methods.
//
// Package proxy combines the packages below internal (see wire in new.go). From clients to servers:
//
//	front      clients: stdio, streamable HTTP, HTTP+SSE
//	router     every method of clients and servers, and the package that serves it
//	pipeline   calls, from the decision to the update of the nets
//	relay      requests that are not calls, lists and subscriptions
//	reverse    requests from servers to clients
//	tasks      the servers' tasks
//	advertise  the tools that a client sees
//	pool       servers, their tools, and shared and dedicated connections
//	session    clients and sessions
//	lifetime   the context, clock, log and goroutines of a proxy
//	spec, rev  the terms of the MCP specification, and the differences between its revisions
//
// Packages that do not depend on a proxy:
//
//	httpguard  authentication and limits of HTTP requests
//	access     verification of JWTs
//	lines      a client's messages, one per line
//	events     responses to HTTP clients, and resumable streams
//	wire       strict parsing and lossless writing of messages
//	upstream   connections to servers, for all transports and revisions
//	listing    servers' lists in the form sent to clients
//	seal       sealed state that clients keep between two requests
package proxy
