// Package admission decides which calls may run. It evaluates the policy in force, records the
// decision, returns a ticket, and settles the ticket when the call has ended. It knows calls and
// people's consents, but not MCP.
//
//	Decide ──► *Refused                              the caller reports the reason
//	   │ ────► *Asked ──► a person ──► Redeem ──┐    the consent is used up
//	   └─────► *Admitted, recorded  ◄───────────┘
//	               │  the caller forwards the call
//	               ▼
//	            Settle: records the outcome, then changes the nets' markings
//
// Security depends on this order. A decision and its changes are durable before the caller learns
// of the decision, so no call runs that is not on record. If the decision cannot be made durable,
// the call is refused and spends nothing. An outcome is on record before it produces a token. If
// the outcome cannot be recorded, the call stays open with an unknown outcome until an operator
// settles it.
//
// A [Ledger] stores states, records and consents. Each of its steps is durable as a whole or not at
// all. Decisions use a [Generation]: the policy in force and everything derived from it. Each
// decision loads the generation once, and [Admission.Swap] replaces it as a whole.
//
// [Admission] is safe for concurrent use. It has two locks around the ledger: inForce.swapMu
// serializes swaps, and Unwritten.catchUpMu serializes the retries of outcomes that the ledger
// could not store. [Unwritten.Run] is the only background loop; the caller starts it. An [Observer]
// traces the phases of a call, and a [Meter] counts calls.
package admission
