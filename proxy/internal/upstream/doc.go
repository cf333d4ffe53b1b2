// Package upstream manages the connections to the MCP servers behind the proxy.
//
// An [Upstream] is a configured server: either a child process that communicates over its standard
// streams, or an HTTP endpoint. It connects in the background, negotiates the protocol revision,
// and reconnects if the connection is lost. mcp-go performs the negotiation. All later messages are
// forwarded byte for byte, because decoding them into Go types would lose unknown members and the
// precision of numbers.
//
//	u := upstream.New(config, upstream.Options{Logger: log})
//	u.Start(ctx)
//	defer u.Close()
//	<-u.Settled()
//	x := u.Send(upstream.Request{Method: "tools/call", Params: params})
//	reply := <-x.Done()
//
// The package distinguishes several reasons why a request has no response. If the error in a
// [Reply] wraps [ErrNotSent], the request was not sent, or the server refused it without executing
// it. If it is a [Lost] error with Sent set, the server may have seen the request, and the outcome
// is unknown. If Dead is also set, no process is left that could still be working on the request. A
// request is sent again only if the server cannot have executed it.
//
// Each Upstream has one goroutine, the supervisor, which opens, watches and replaces connections.
// The supervisor of a child process is locked to its thread, because Linux kills a child when the
// thread that started it ends. Upstream.mu guards the state and is never held while a callback
// runs. Packages stdio, streamable and httpsse implement the transports; package conn contains
// their common code.
package upstream
