// Package upstream manages the connections to the MCP servers behind the proxy.
//
// An [Upstream] is a configured server: either a child process that communicates over its standard
// streams, or an HTTP endpoint. It connects in the background, negotiates the protocol revision,
// and reconnects if the connection is lost. mcp-go performs the negotiation. All later messages are
// forwarded as the bytes that were received, because typed messages would lose members and digits.
//
//	u := upstream.New(config, upstream.Options{Logger: log})
//	u.Start(ctx)
//	defer u.Close()
//	<-u.Settled()
//	x := u.Send(upstream.Request{Method: "tools/call", Params: params})
//	reply := <-x.Done()
//
// The package distinguishes several reasons why a request has no answer. If Err in a [Reply] is
// [ErrNotSent], the server cannot have seen the request. If it is [Lost], the server may have seen
// the request, so the outcome is unknown; if Dead is set, no process is left that could still be
// working on it. A request is sent a second time only if the server cannot have executed it the
// first time.
//
// Each Upstream has one goroutine, the supervisor, which opens, watches and replaces connections.
// On Linux the supervisor is locked to its thread, because the kernel kills a child when the thread
// that has started it ends. Upstream.mu guards the state and is never held while a callback runs.
// Packages stdio, streamable and httpsse implement the transports; package conn contains their
// common code.
package upstream
