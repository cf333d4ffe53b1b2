// Package admission decides which calls may run: it asks the policy in force,
// puts the decision on record, hands out a ticket, and settles the ticket when
// the call has ended. It knows calls and people's consents, and nothing of MCP.
//
//	Decide ──► *Refused                              the caller says why
//	   │ ────► *Asked ──► a person ──► Redeem ──┐    the consent is used up
//	   └─────► *Admitted, on record ◄───────────┘
//	               │  the caller forwards the call
//	               ▼
//	            Settle: the outcome on record, then the nets move
//
// The order is the security property. A decision and what it changes are
// durable before the caller learns of it, so nothing runs that is not on record;
// where they cannot be, the call is refused and nothing was taken. An outcome is
// on record before it produces a token; where it cannot be, the call stays open
// with an unknown outcome, for an operator to settle.
//
// States, records and consents are kept by a [Ledger]; each of its steps is
// durable as a whole or not at all. What decides is a [Generation], which is loaded
// once for each decision and replaced as a whole by [Admission.Swap].
package admission
