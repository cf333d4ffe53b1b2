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
// Security depends on this order. An admission and its state changes are durable before the caller
// learns of the admission, so no call runs without a record, unless the ledger keeps no records. If
// an admission cannot be made durable, the call is refused and takes no tokens. A refusal by the
// nets stands even if it cannot be recorded. An outcome is recorded before it produces a token. If
// the outcome cannot be recorded, the call stays open until a retry records the outcome or an
// operator settles the call.
//
// A [Ledger] stores states, records and consents. Each step in a ledger is atomic: all of it
// becomes durable, or nothing. Decisions use a [Generation]: the policy in force and everything
// derived from it. Each decision is made under a single generation, and [Admission.Swap] replaces
// the generation as a whole.
//
// [Admission] is safe for concurrent use. The lock inForce.swapMu serializes swaps, and the lock
// Unwritten.catchUpMu serializes retries of outcomes that the ledger could not store. All other
// locks are held only briefly. The only background loop is [Unwritten.Run], which the caller
// starts. An [Observer] traces the phases of a call, and a [Meter] counts calls.
package admission
