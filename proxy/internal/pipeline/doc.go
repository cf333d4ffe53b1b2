// Package pipeline takes a call (tools/call, prompts/get or resources/read) from its client through
// admission to its server, and returns the result to the client.
//
// [Pipeline.Serve] finds the tool, chooses the connection and has the gate decide on the call
// (serve.go). The methods proceed and forward send an admitted call to its server. The methods end
// and finish of inflightCall handle the reply: they record the outcome and respond to the client
// (forward.go). The order of these steps is a security property: nothing is sent before the
// decision has been recorded, and the nets learn the outcome before the client does.
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
// that use revisions up to 2025-11-25. Serve determines this before the decision (Call.plain), and
// forward checks the server's revision again. Plain calls skip the code for tasks and for further
// rounds of input. Built-in prompts, mirrored headers, traces, dedicated connections and limits are
// checked only where they are configured.
//
// # Goroutines
//
// The goroutine that runs a call depends on the client's transport, the server's transport, and the
// phase:
//
//   - Decision. Over stdio, Serve runs on the goroutine that reads the client's messages. Over
//     HTTP+SSE, it runs on the handler of a POST request, and each client's requests are handled
//     one at a time. In both cases, it may block only while it accesses the store. Over streamable
//     HTTP, it runs on the handler's goroutine, which serves only this call: the handler calls
//     [Pipeline.Begin] and then [Call.Wait].
//   - Steps that block. continueOff chooses the goroutine for every such step. A step can block
//     before the decision, while a server starts or a new connection is opened. The call keeps its
//     arguments in the meantime, so continueOff counts the size of the message toward a limit. It
//     then passes a function that continues the call to [Call.Spawn]. Over stdio and HTTP+SSE, a
//     new goroutine runs the function. Over streamable HTTP, Wait runs it on the handler's
//     goroutine. After a reply, continueOff uses the waiting handler or, without one, a new
//     goroutine. A call that waits for a person also continues through Spawn, but the approval
//     broker has its own limit for such calls.
//   - Sending. If a handler is waiting and the server uses streamable HTTP, the handler itself sends
//     the request and reads the reply ("inline"). Otherwise, Send returns immediately, and the
//     goroutine that reads from the server delivers the reply.
//   - Reply. If a handler is waiting, end sends a completion to its channel (sendToWaiter).
//     Otherwise, the goroutine that has read the reply calls finish, which may block only while
//     it accesses the store.
//   - Interruption. If a server ends a response stream that the proxy can resume, the client's
//     response stream ends, too, provided that the client can resume it. The handler then stops
//     waiting (detach) and no longer reads the reply (stopInline). The exchange continues on one of
//     the upstream's goroutines.
//   - Cancellation. [Call.Cancel] runs on the goroutine that has received the cancellation. If the
//     call has been sent, Abandon tells the server and records the outcome as unknown. The outcome
//     of a late reply is still recorded (settleLate). If Cancel ends the call while an inline
//     handler is still busy with the request, the client's connection is closed after the response.
//
// Calls that were read together are recorded together, and so are the outcomes of replies that were
// read together; see [burst.Burst]. A [turns.Turn] limits how many messages of one principal are
// parsed and decided on concurrently. A call releases its turn before it waits.
//
// # Locks
//
// callState.mu guards the state of a Call, inflightState.mu guards the state of a request in flight,
// and suspendedCalls.mu guards the table of suspended calls. callState.mu and inflightState.mu are
// never held at the same time. parkFor holds inflightState.mu while it locks suspendedCalls.mu; no
// code locks these two in the opposite order.
package pipeline
