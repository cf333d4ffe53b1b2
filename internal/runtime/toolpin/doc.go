// Package toolpin keeps the definitions of tools that were accepted: what a server said of a
// tool when it was first seen, or what a person has accepted since. A server that says
// something else later is noticed, so that no model reads, and nobody calls, what nobody has
// looked at (a rug pull).
package toolpin
