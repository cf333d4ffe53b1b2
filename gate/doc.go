// Package gate decides whether a tool call may run.
//
// The rules are Petri nets. Places hold tokens. When a transition fires, it takes tokens from its
// input places and puts tokens into its output places; it can fire only if its input places hold
// enough tokens. A transition that lists a tool gates it: the tool can be called when the
// transition can fire, and the call makes the transition fire. A net can thus express which calls
// must come first, how often a call is allowed and which calls exclude each other. Everything that
// a net can ever allow can be computed before the net is used.
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
//	case *gate.Refusal: // d.Text is the reason
//	case *gate.Ask:     // a person must approve d.Steps; then Decide again with d.Grant()
//	case *gate.Allow:   // run the tool, then d.Ticket.Settle(gate.Success)
//	}
//
// # Decisions
//
// A call has one or more names (see [Policy.Names]). Each active net that lists one of these names
// either permits or blocks the call; all other nets abstain. If any net blocks the call, it is
// refused. Otherwise, a person is asked to approve all manual transitions at once; then the nets'
// validators check the call; and then either all nets fire their transitions, or none of them does.
//
// A deferred transition takes its tokens when the call is admitted and produces tokens when the
// call succeeds; until the call ends, the tokens are in flight and unavailable to other calls. An
// observing transition fires for the calls to a tool but never forbids them. With
// [Transition.Evidence], the success of a call counts only for later calls, not for the call
// itself. A transition with [Transition.Spoils] keeps concurrent calls from counting: a test that
// runs during an edit proves nothing, whether or not the test and the edit succeed. A net can also
// limit the sum of an argument ([Net.Sum]) and the number of consecutive identical calls
// ([Net.Row]). While a place is marked, it can block all calls that are not on a list
// ([Net.Phases]).
//
// A net with a key ([Net.Key]) has a separate marking for each value of its fields, so that a
// backup of one file does not unlock another file. If a call has several key values, the marking
// for each of them must permit the call. With [Field.Result], the key values are read from the
// call's result; see [End].
//
// A transition with [Transition.Every] fires periodically. No timer runs: when a net is evaluated,
// it catches up on the firings that were due by the time of the call. [Net.Scope] determines which
// calls a net counts: sessions created with the same [Shared] share its state. A net in shadow mode
// ([Net.Shadow]) records its decisions but has no effect. [Session.Advertise] selects the tools of
// [Session.Offer] that are worth showing to a client.
//
// # Structure
//
// A [Policy] is immutable. [Policy.Decide] and [Policy.Settle] are functions of a policy and a
// [State] that return a [Delta]; a [Session] holds a state in memory and applies deltas under its
// lock. Programs that store states themselves can use the methods of Policy instead of a session;
// [Policy.Adopt] converts a state of another policy. The types that make up nets are in package
// toolnet and have aliases here. The package has no clock, no I/O, no goroutines and no logger of
// its own.
//
// Only [Session] and [Shared] have locks. A decision locks its session first, then the Shared for
// the sessions of the same principal, then the Shared for all sessions. Before taking a lock,
// [Prepared] and [PreparedEnd] do the work that does not depend on the state.
package gate
