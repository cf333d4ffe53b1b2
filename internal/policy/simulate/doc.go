// Package simulate shows users how a policy decides on calls that they make up.
//
// A [Simulation] is a policy with one session in a sandbox; time is simulated and there are no
// servers. [Simulation.Explain] explains the decision on a call: the rules behind it and, if the
// call is refused, the calls that must succeed first (package verify). The decision comes from the
// gate itself.
//
// A [Simulator] runs a session interactively, controlled by commands (command.go). A command that
// changes the state, such as a call, is a move. The last move can be undone: all earlier moves are
// then replayed in a new session. The moves can also be recorded as a policy test
// ([Simulator.Record]), which is run once to check it.
//
// Names are resolved as in a running proxy: a call has all the names that its tool has behind the
// proxy. Before an explanation, an unqualified name can also be resolved to an agent's built-in
// tool ([Simulation.ReadAs]).
//
// A Simulation must not be used concurrently. Commands are read in a separate goroutine, so that an
// interrupt can end [Simulator.Run] while it is waiting for input.
package simulate
