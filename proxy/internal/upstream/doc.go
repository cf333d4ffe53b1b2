// Package upstream manages the connections to the MCP servers behind the proxy.
//
// An [Upstream] is one server of the configuration: a child process that speaks over its standard
// streams, or an HTTP endpoint. It connects in the background, negotiates the protocol revision,
// and reconnects after a loss. mcp-go performs the negotiation; all later messages are forwarded as
// the bytes that came, since typed messages lose members and digits.
//
//	u := upstream.New(config, upstream.Options{Logger: log})
//	u.Start(ctx)
//	defer u.Close()
//	<-u.Settled()
//	x := u.Send(upstream.Request{Method: "tools/call", Params: params})
//	reply := <-x.Done()
//
// The package is careful about requests without an answer. A [Reply] with [ErrNotSent] in Err means
// that the server cannot have seen the request. [Lost] means that it can, so the outcome is
// unknown; with Dead, no process remains that could still work on it. A request is sent a second
// time only if the server cannot have executed the first.
//
// One goroutine per Upstream, the supervisor, opens, watches and replaces connections; on Linux it
// is locked to its thread, because the kernel kills a child when the thread that started it ends.
// Upstream.mu guards the state; it is never held while a callback runs. Packages stdio, streamable
// and httpsse implement the transports, and package conn holds their common parts.
package upstream
