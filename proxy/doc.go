// Package proxy stands between MCP clients and MCP servers and lets a tool
// call pass when its gate does.
//
// A [Proxy] has upstreams, the MCP servers behind it, and clients, over stdio
// ([Proxy.ServeStdio]) or streamable HTTP ([Proxy.Handler]), of both families of revisions
// of the protocol. A call (tools/call, prompts/get or resources/read) goes through package
// pipeline: the session's gate decides it, a person is asked if a net says so, the decision
// is recorded, the call is forwarded, its outcome recorded, the nets moved, and the client
// answered.
//
// Package relay passes requests that are not calls on unchanged, and package reverse the
// requests of servers to clients, also between the revisions.
//
// Tool lists, calls and results travel as the bytes they came as; one strict
// parse of the client's message yields what the gate decides on, what a person
// is shown and what the upstream gets. The handshakes are mcp-go's.
//
// Operators see and mend a running proxy by the methods of operate.go, which
// no client can reach.
//
// The parts of the proxy are packages below internal, which package proxy puts together
// (see wire in proxy.go). From clients to servers:
//
//	front      clients: stdio, streamable HTTP, HTTP+SSE
//	router     every method of clients and servers, and the package that serves it
//	pipeline   calls, from the decision to the settlement
//	relay      requests that are not calls, lists and subscriptions
//	reverse    requests of servers to clients
//	tasks      tasks of servers
//	advertise  which tools a client is shown
//	pool       servers, their tools, and shared and dedicated connections
//	session    clients and sessions
//	lifetime   the context, clock, log and goroutines of a proxy
//	spec, rev  the words of the specification, and its two families of revisions
//
// Packages that know nothing of a proxy:
//
//	httpguard  who may call over HTTP, and how much at a time
//	access     the JWTs of callers
//	lines      the messages of a client, one a line
//	events     what a client over HTTP is told, and what of it is kept
//	wire       messages, parsed strictly and written without loss
//	upstream   the connections to servers, of all transports and revisions
//	listing    what servers list, as clients see it
//	seal       what clients carry for us between two requests
package proxy
