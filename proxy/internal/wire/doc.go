// Package wire is the JSON-RPC and MCP codec of the proxy. It contains the only parser for the
// bytes that clients send.
//
// [Parse] parses each message from a client once, and strictly. If parsers could disagree about a
// message, Parse refuses it with a [Fault], and nothing is executed. [ParseCall] then returns the
// single value that policy, approval, audit and upstream all use, and [Call.AppendForward] writes
// the params for the upstream: the source bytes, except for the few members that apply only between
// two peers.
//
//	m, fault := wire.Parse(line, 4<<20)
//	if fault != nil {
//		return fault.Append(nil)
//	}
//	call, fault := wire.ParseCall(m)
//	// ... decide on call.Name and call.Arguments ...
//	params := call.AppendForward(nil, wire.Hop{Name: "delete"})
//
// Messages from upstreams may be large, and the proxy needs little of them: [ParseUpstream] parses
// the envelope and only finds where its values end.
//
// A parsed message contains no line break, so its parts can be written to a transport that ends
// messages with a line break. No function in this package appends a line break.
//
// The main types are [Message] (the envelope), [Call] (params), [Meta] (the _meta members that
// apply only between two peers), [Facts] (how a call ended, according to its result) and [Task].
// Values are immutable and refer to the bytes that they were parsed from. The package has no locks
// or goroutines.
package wire
