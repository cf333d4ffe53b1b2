// Package admission decides which calls may run: it evaluates the policy in force, puts the
// decision on record, returns a ticket, and settles the ticket when the call has ended. It knows
// calls and consents of people, but not MCP.
//
//	Decide ──► *Refused                              the caller reports the reason
//	   │ ────► *Asked ──► a person ──► Redeem ──┐    the consent is used up
//	   └─────► *Admitted, on record ◄───────────┘
//	               │  the caller forwards the call
//	               ▼
//	            Settle: the outcome on record, then the nets move
//
// The order is the security property. A decision and its changes are durable before the caller
// learns of the decision, so no call runs that is not on record. If the decision cannot be made
// durable, the call is refused and nothing is spent. An outcome is on record before it produces a
// token. If the outcome cannot be recorded, the call stays open with an unknown outcome for an
// operator to settle.
//
// A [Ledger] stores states, records and consents; each of its steps is durable as a whole or not at
// all. Decisions use a [Generation], the policy in force with everything derived from it. Each
// decision loads it once, and [Admission.Swap] replaces it as a whole.
//
// [Admission] is safe for concurrent use. It has two locks around the ledger: the lock of the
// generation serializes swaps, and [Unwritten] serializes the retries of outcomes that the ledger
// could not store. [Unwritten.Run] is the only background loop; the caller starts it. An [Observer]
// traces the phases of a call, and a [Meter] counts calls.
package admission
