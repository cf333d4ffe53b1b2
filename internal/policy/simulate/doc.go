// Package simulate shows users how a policy decides calls that they make up.
//
// A [Simulation] explains one call: the decision, the rules behind it, and the calls that would
// make it allowed ([Simulation.Explain]). A [Simulator] runs a session interactively by commands;
// it can undo them, and record the session as a policy test ([Simulator.Record]). Both use a
// sandbox with simulated time, and no server.
//
// A Simulation must not be used concurrently. Reading commands uses a goroutine, so that an
// interrupt can end [Simulator.Run] while it waits for input.
package simulate
