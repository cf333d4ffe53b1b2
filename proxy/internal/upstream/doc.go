// Package upstream holds the connections to the MCP servers behind the proxy.
//
// An [Upstream] is one server of the configuration: a child process that
// speaks over its standard streams, or a streamable HTTP endpoint. It connects
// in the background, negotiates the revision of the protocol, and connects
// again after a loss. mcp-go does the negotiation; everything after it travels
// as the bytes that came, since typed messages lose members and digits.
//
//	u := upstream.New(config, upstream.Options{Logger: log})
//	u.Start(ctx)
//	defer u.Close()
//	<-u.Settled()
//	x := u.Send(upstream.Request{Method: "tools/call", Params: params})
//	reply := <-x.Done()
//
// What matters most is what is known when there is no answer. A [Reply] whose
// Err is [ErrNotSent] says that the server cannot have seen the request. A
// [Lost] says that it can, so that the outcome is unknown, or, if Dead, that
// no process is left which could still be working on it. No request is ever
// sent twice unless the server cannot have executed the first.
package upstream
