// Package wire is the JSON-RPC and MCP codec of the proxy, and the only parser
// of the bytes that clients send.
//
// A message of a client is parsed strictly, once, by [Parse]: whatever two
// parsers could read differently is refused with a [Fault], and nothing is
// executed. [ParseCall] then yields the one value that policy, approval,
// audit and the upstream all work from, and [Call.AppendForward] writes the
// parameters that the upstream gets: the source bytes, but for the few members
// that belong to one hop.
//
//	m, fault := wire.Parse(line, 4<<20)
//	if fault != nil {
//		return fault.Append(nil)
//	}
//	call, fault := wire.ParseCall(m)
//	// ... decide on call.Name and call.Arguments ...
//	params := call.AppendForward(nil, wire.Hop{Name: "delete"})
//
// Messages of upstreams are trusted less to be interesting than to be large:
// [ParseUpstream] reads the envelope and only finds the ends of what is in it.
//
// A message that was parsed holds no line break, so what is taken from it can
// be written to a transport that ends messages with one. No function here
// appends a line break.
package wire
