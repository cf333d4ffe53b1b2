// Package admission decides which calls may run. For each call it evaluates the policy in force,
// records the decision and, if the call may run, returns a ticket. When the call has ended, the
// caller reports its outcome with the ticket. The package deals with calls and people's consents,
// but knows nothing about MCP.
//
//	Decide ──► *Refused                              the caller reports the reason
//	   │ ────► *Asked ──► a person ──► Redeem ──┐    the consent is used up
//	   └─────► *Admitted, recorded  ◄───────────┘
//	               │  the caller forwards the call
//	               ▼
//	            Settle: records the outcome, then changes the nets' markings
//
// Security depends on this order. A decision and its state changes are durable before the caller
// learns of the decision, so no call runs without a record. If the decision cannot be made durable,
// the call is refused and takes no tokens. An outcome is recorded before it produces a token. If
// the outcome cannot be recorded, the call stays open with an unknown outcome until an operator
// settles it.
//
// A [Ledger] stores states, records and consents. Each step in a ledger is atomic: all of it becomes
// durable, or nothing. Decisions use a [Generation]: the policy in force and everything derived from
// it. Each decision loads the generation once, and [Admission.Swap] replaces it as a whole.
//
// [Admission] is safe for concurrent use. It has two locks of its own: inForce.swapMu serializes
// swaps, and Unwritten.catchUpMu serializes retries of outcomes that the ledger could not store.
// The only background loop is [Unwritten.Run], which the caller starts. An [Observer] traces the
// phases of a call, and a [Meter] counts calls.
package admission
