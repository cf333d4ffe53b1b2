// Package simulate shows users how a policy decides calls that they make up.
//
// A [Simulation] is a policy with one session in a sandbox, with simulated time and no server. It
// explains one call: the decision, the rules behind it, and the calls that would make it allowed
// ([Simulation.Explain]). The remedy comes from package verify, and the decision from the gate
// itself.
//
// A [Simulator] runs a session interactively by commands (command.go). The commands that change the
// state are moves; they can be undone, by replaying all others in a new session, and recorded as a
// policy test ([Simulator.Record]), which is then run once as a check.
//
// Names are resolved as in a running proxy: a call has all names that its tool has behind the
// proxy, and an unqualified name may denote an agent's built-in tool ([Simulation.ReadAs]).
//
// A Simulation must not be used concurrently. Reading commands uses a goroutine, so that an
// interrupt can end [Simulator.Run] while it waits for input.
package simulate
