// Package wire is the JSON-RPC and MCP codec of the proxy, and the only parser of the bytes that
// clients send.
//
// A client's message is parsed once and strictly, by [Parse]. If two parsers could read it
// differently, it is refused with a [Fault], and nothing is executed. [ParseCall] then returns the
// one value that policy, approval, audit and upstream all work from, and [Call.AppendForward]
// writes the params for the upstream: the source bytes, except for the few members that belong to
// one hop.
//
//	m, fault := wire.Parse(line, 4<<20)
//	if fault != nil {
//		return fault.Append(nil)
//	}
//	call, fault := wire.ParseCall(m)
//	// ... decide on call.Name and call.Arguments ...
//	params := call.AppendForward(nil, wire.Hop{Name: "delete"})
//
// Messages of upstreams can be large, and the proxy needs little of them: [ParseUpstream] reads the
// envelope and only finds the ends of its values.
//
// A parsed message contains no line break, so its parts can be written to a transport that ends
// messages with one. No function here appends a line break.
//
// The main types are [Message] (the envelope), [Call] (params), [Meta] (the _meta of one hop),
// [Facts] (the end of a call, read from a result) and [Task]. Values are immutable and refer to the
// bytes they were parsed from; the package has no locks or goroutines.
package wire
