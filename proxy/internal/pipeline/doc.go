// Package pipeline takes a call (tools/call, prompts/get or resources/read) from its client through
// admission to its server, and takes the result back: it resolves the tool, chooses the connection,
// decides, asks a person, records, forwards, settles and answers.
//
// [Pipeline.Serve] takes a call to its decision (serve.go); proceed and forward take it to its
// server, and the methods end and finish of the in-flight call take the reply back to the client
// (forward.go). The order of their steps is a security property: nothing is sent before
// the decision has been recorded, and the nets learn the outcome before the client does.
//
// # Types
//
// A [Call] is a client's request until it is answered. An inflightCall is an admitted request to a
// server until the call is settled, that is, until its outcome has been recorded. It can outlive
// the Call, because a client can cancel the call or disconnect. A suspendedCall is a call that
// waits for its client's input (InputRequiredResult of 2026-07-28). An askedCall is a call that
// needs a person's approval, and a personWait is the state of its wait for the answer.
//
// # Plain calls
//
// Most calls are plain: one request and one reply, without a task, between a client and a server
// that use revisions up to 2025-11-25. Serve determines this once per call (Call.plain). Plain
// calls skip the code for tasks, further rounds of input, and repeated sending. Built-in
// prompts, mirrored headers, traces, dedicated connections and limits are checked only where they
// are configured.
//
// # Goroutines
//
// The goroutine that runs a call depends on the client's transport, the server's transport, and the
// phase:
//
//   - Arrival and decision. Over stdio, Serve runs on the goroutine that reads the client's
//     messages; over HTTP+SSE, on the handler of each POST request, one at a time. Both block only for
//     commits. Over streamable HTTP, it runs on the handler's goroutine, which belongs to this call
//     alone: [Pipeline.Begin] serves the call, and [Call.Wait] then waits for its end.
//   - Steps that block. Only continueOff chooses where they run. Before the decision (while a server
//     starts or a new connection is opened), it counts the message in the backlog, because a waiting
//     call keeps its arguments, and passes the rest of the call to [Call.Spawn]. Over stdio and
//     HTTP+SSE, that is a new goroutine. Over streamable HTTP, it is the handler's goroutine, within
//     Wait and near the bottom of its stack. After a reply, continueOff uses the waiting handler or,
//     without one, a new goroutine. A call that waits for a person is spawned too, and the
//     approval broker counts it.
//   - Sending. If a handler is waiting and the server uses streamable HTTP, the handler itself sends
//     the request and reads the reply ("inline"). Otherwise Send returns immediately, and the
//     goroutine that reads from the server delivers the reply.
//   - Reply. If a handler is waiting, end sends a completion to its channel (sendToWaiter).
//     Otherwise the goroutine that read the reply settles and answers the call (finish). It may block
//     only for commits.
//   - Interruption. If a server ends a response stream that can be resumed, the client's response
//     ends too: detach makes the handler stop waiting, stopInline marks that it no longer reads the
//     reply, and the rest of the exchange continues on one of the upstream's goroutines.
//   - Cancellation. [Call.Cancel] runs on the goroutine that received the cancellation. If the call
//     has been sent, Abandon tells the server and settles the call as unknown; a late reply still
//     settles it (settleLate). Cancel can end the call while an inline handler is still busy with the
//     request. In that case the client's connection is closed after the answer.
//
// A [burst.Burst] holds back calls that were read together, and replies that were read together, so
// that they are recorded together. A [turns.Turn] limits how many messages of one principal are
// parsed and decided at a time. A call returns its turn before it waits.
//
// # Locks
//
// callState.mu guards the state of a Call, inflightState.mu the state of a request in flight, and
// suspendedCalls.mu guards the table of that name. callState and inflightState never
// hold each other's lock. parkFor holds inflightState.mu while it takes suspendedCalls.mu. No code
// takes these two in the opposite order.
package pipeline
