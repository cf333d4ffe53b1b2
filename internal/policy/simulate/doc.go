// Package simulate shows people what a policy does with calls that they make up.
//
// A [Simulation] explains one call: the decision, the rules behind it, and how the call
// would be allowed ([Simulation.Explain]). A [Simulator] steps through a session by
// commands and records it as a policy test.
package simulate
