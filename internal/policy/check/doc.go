// Package check analyzes a policy before any tool is called.
//
// [Look] builds the policy of a source, checks it and verifies it; "petrigate check" prints its
// result. [Run] only verifies: it decides the claims of a policy and finds tools that can never be
// called, rules without effect, and deadlocks; the search itself is in package verify. An
// [Analysis] holds the findings; they become problems ([Analysis.Problems]) and notes, in a
// [Report] for people and for JSON, or in the log of a proxy that starts.
//
// [KnownSet] and [LikelyTools] return a [ToolSet], which tells which names belong to the same tool:
// the verification depends on it. The lint functions ([NoPolicy], [NoUpstream], [Sessions] and
// others) check a configuration without a verification. [Report.Steps] replays a counterexample
// step by step.
//
// An [Effort] bounds the verification by states and by time; what exceeds it is reported as
// unknown, with the option that raises the bound. By default it counts the processor time of one
// thread, so Run locks its goroutine to its thread. The package starts no goroutines and has no
// locks.
package check
