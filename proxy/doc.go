// Package proxy stands between MCP clients and MCP servers and lets a tool
// call pass when its gate does.
//
// A [Proxy] has upstreams, the MCP servers behind it, and clients, over stdio
// ([Proxy.ServeStdio]) or streamable HTTP ([Proxy.Handler]), of both families of revisions of
// the protocol. What a call goes through stands in one function, serve in
// call.go: it is decided by the session's gate, a person is asked where a net
// says so, the decision is put on record, the call is forwarded, its outcome
// recorded, the nets moved, and the client answered.
//
// What is not a call is relayed as it came (relay.go), and so is what upstreams
// ask of the clients behind their calls, between the revisions too (inquiry.go,
// rounds.go). prompts/get and resources/read are calls.
//
// Tool lists, calls and results travel as the bytes they came as; one strict
// parse of the client's message yields what the gate decides on, what a person
// is shown and what the upstream gets. The handshakes are mcp-go's.
//
// Operators see and mend a running proxy by the methods of operate.go, which
// no client can reach.
//
// What knows no proxy stands below internal, and package proxy puts it together:
//
//	httpguard who may call over HTTP, and how much at a time
//	access    the JWTs of callers
//	lines     the messages of a client, one a line
//	events    what a client over HTTP is told, and what of it is kept
//	wire      messages, parsed strictly and written without loss
//	upstream  the connections to servers, of all transports and revisions
//	listing   what servers list, as clients see it
//	seal      what clients carry for us between two requests
package proxy
