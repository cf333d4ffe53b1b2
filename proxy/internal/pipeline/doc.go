// Package pipeline takes one call (tools/call, prompts/get or resources/read) from its client
// through admission to its server, and the result back: resolve the tool, choose the connection,
// decide, ask a person, record, forward, settle, answer.
//
// [Pipeline.Serve] takes a call as far as its server; the finish method of the in-flight call takes
// the reply back to the client. The order of their steps is a security property: nothing is sent
// before the decision is on record, and the nets know the outcome before the client does.
//
// # Types
//
// A [Call] is one request of a client until it is answered. An inflightCall is one admitted request
// to a server until the call is settled; it can outlive the Call, because a client can cancel or
// disconnect. A suspendedCall is a call between two rounds of input (InputRequiredResult of
// 2026-07-28). An askedCall is a call that a person is asked about; a personWait is its wait.
//
// # Plain calls
//
// Most calls are plain: one request and one reply between revisions with a handshake, without a
// task. Serve finds that out once per call (Call.plain), and everything about tasks, further rounds
// of input and sending again stands behind it. The built-in prompts, mirrored headers, traces, dedicated
// connections and limits are asked for only where they are configured.
//
// # Goroutines
//
// The goroutine that runs a call depends on the transport of the client, on the transport of the
// server and on the phase:
//
//   - Arrival and decision. Over stdio and HTTP+SSE, Serve runs on the goroutine that reads the
//     client's messages and never blocks there. Over streamable HTTP it runs on the handler's
//     goroutine, which belongs to this call alone: [Pipeline.Begin] serves the call and [Call.Wait]
//     then waits for its end.
//   - Steps that block. continueOff is the one place that chooses where they run. Before the decision
//     (a starting server, a new connection) it counts the message in the backlog, because a waiting
//     call keeps its arguments, and hands the rest of the call to [Call.Spawn]: over stdio and
//     HTTP+SSE a new goroutine, over streamable HTTP the handler's goroutine, inside Wait and near
//     the bottom of its stack. After a reply it uses the handler that waits, or else a goroutine of
//     its own. A call that waits for a person is spawned too; the approval broker counts it.
//   - Sending. If a handler waits and the server speaks streamable HTTP, the handler itself sends
//     the request and reads the reply ("inline"). Otherwise Send returns at once, and the goroutine
//     that reads from the server delivers the reply.
//   - Reply. If a handler waits, end sends a completion to its channel (sendToWaiter). Otherwise the
//     goroutine that read the reply settles and answers the call (finish); it must not block.
//   - Interruption. If a server ends its resumable response stream, the client's response ends too:
//     detach stops the wait of the handler, stopInline marks that it no longer reads the reply,
//     and the rest of the exchange continues on a goroutine of the upstream.
//   - Cancellation. [Call.Cancel] runs on the goroutine that received the cancellation. It can end
//     the call there while an inline handler is still busy with the request; the client's
//     connection is closed after that answer.
//
// A [burst.Burst] holds back calls that were read together, and replies that were read together, so
// that they are recorded together. A [turns.Turn] limits how many messages of one principal are
// parsed and decided at a time; a call gives its turn back before it waits.
//
// # Locks
//
// callState.mu guards the state of a Call, inflightState.mu that of a request in flight,
// suspendedCalls.mu and backlog.mu the tables of those names. callState and inflightState never
// hold each other's lock. parkFor holds inflightState.mu while it takes suspendedCalls.mu; no code
// takes these two in the other order.
package pipeline
