// Package toolnet has what the author of a net writes: Petri nets whose transitions list
// tools, and the calls that they speak of. It says what is wrong with a net and what the
// net can do by itself; what a call may do is decided by package gate.
package toolnet
