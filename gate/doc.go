// Package gate decides whether a call of a tool may run.
//
// The rules are Petri nets. A place holds tokens; a transition takes tokens
// from its input places and puts tokens into its output places, and can fire
// only if they are there. A transition that lists a tool gates it: the tool
// can be called when the transition can fire, and the call makes it fire. So a
// net can say what must come first, how often something may happen, and what
// excludes what, and all that it can ever allow is known before it is used.
//
//	policy, err := gate.NewPolicy([]gate.Net{{
//		Name:    "backup-before-delete",
//		Places:  []string{"ready", "saved"},
//		Initial: map[string]int{"ready": 1},
//		Transitions: []gate.Transition{
//			{Name: "backup", Inputs: []string{"ready"}, Outputs: []string{"saved"}, Tools: gate.Tools("backup"), Deferred: true},
//			{Name: "delete", Inputs: []string{"saved"}, Outputs: []string{"ready"}, Tools: gate.Tools("delete")},
//		},
//	}}, gate.PolicyOptions{})
//	...
//	session := gate.NewSession(policy, gate.SessionOptions{})
//	switch d := session.Decide(gate.Call{ID: id, Tool: "delete", Args: args}, nil).(type) {
//	case *gate.Refusal: // d.Text says why
//	case *gate.Ask:     // a person must approve d.Steps; then Decide again with d.Grant()
//	case *gate.Allow:   // run the tool, then d.Ticket.Settle(gate.Success)
//	}
//
// # Decisions
//
// A call carries one or more names (see [Policy.Names]). Each active net that
// lists one of them gates the call or blocks it; the others abstain. One net
// that blocks is enough to refuse. Then a person is asked about all manual
// transitions at once, then the validators of the nets judge, and then every
// net moves, or none.
//
// A deferred transition takes its tokens at the call and produces when the
// result is a success; until then they are in flight and nobody else can have
// them. A transition that observes follows a tool and never forbids it. If it is
// evidence ([Transition.Evidence]), it counts successes for later calls, and lets no call
// pass that the net gates. One that spoils ([Transition.Spoils]) takes evidence away: a test beside an edit proves
// nothing, however either of them ends. A net can also limit what cannot be counted in
// tokens: the sum of an argument ([Net.Sum]), equal calls in a row ([Net.Row]), and
// whatever is not on a list while a place is marked ([Net.Phases]).
//
// A net with a key ([Net.Key]) has a marking for each value of its fields, so that a
// backup of one file unlocks no other. A call is judged for each of its values, which
// all have to let it; [Field.Result] takes them from what a call has found, see [End].
//
// A transition with [Transition.Every] fires by the clock, which is the time of
// the calls: a net is moved when it is asked, as far as the time allows, so
// nothing runs in between. [Net.Scope] says whose calls a net counts: sessions
// that are made with the same [Shared] share its state. A net in shadow
// ([Net.Shadow]) says what it would have done and does nothing, and
// [Session.Advertise] says which of the tools of [Session.Offer] are worth showing.
//
// # Pieces
//
// A [Policy] never changes. [Policy.Decide] and [Policy.Settle] are functions
// of a policy and a [State] that yield a [Delta]; a [Session] keeps a state in
// memory and applies the deltas under its lock. Whatever a session is asked can
// be asked of a policy and a state, by a store that keeps states in its own way;
// [Policy.Adopt] takes a state over from another policy. What nets are made of is in
// package toolnet; its types have names here too. The package has no clock, no input or
// output, no goroutine and no logger of its own.
package gate
