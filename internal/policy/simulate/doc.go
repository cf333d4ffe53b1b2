// Package simulate shows users how a policy decides calls that they make up.
//
// A [Simulation] is a policy with one session in a sandbox; time is simulated and there are no
// servers. [Simulation.Explain] explains a call: the decision, the rules behind it, and the calls
// that would make it allowed. The remedy comes from package verify, and the decision comes from the
// gate itself.
//
// A [Simulator] runs a session interactively, controlled by commands (command.go). Commands that
// change the state are moves. A move can be undone, by replaying all other moves in a new session.
// Moves can also be recorded as a policy test ([Simulator.Record]), which is then run once as a
// check.
//
// Names are resolved as in a running proxy: a call has all names that its tool has behind the
// proxy, and an unqualified name may denote an agent's built-in tool ([Simulation.ReadAs]).
//
// A Simulation must not be used concurrently. Commands are read in a separate goroutine, so that an
// interrupt can end [Simulator.Run] while it is waiting for input.
package simulate
