// Package proxy implements an MCP proxy that forwards a tool call to its server only if the policy
// allows the call.
//
// A [Proxy] has upstreams, which are the MCP servers behind it, and clients, over stdio
// ([Proxy.ServeStdio]) or streamable HTTP ([Proxy.Handler]), in both families of
// protocol revisions; see package rev. A call (tools/call, prompts/get or resources/read) goes
// through package pipeline: the session's gate decides the call, a person is asked if a net
// requires approval, the decision is recorded, the call is forwarded, its outcome is recorded, the
// markings of the nets are updated, and the client is answered.
//
// Package relay forwards requests that are not calls. Package reverse forwards servers' requests to
// clients, even if a server and a client use different families of revisions.
//
// Tool lists, calls and results are forwarded byte for byte; one strict parse of
// the client's message yields the values that the gate decides on, that a person sees and that the
// upstream gets. mcp-go implements the handshakes.
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
//	spec, rev  the terms of the specification, and its two revision families
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
