// Package check analyzes a policy before any tool is called.
//
// [Look] builds a source's policy, checks it and verifies it; "petrigate check" prints the result.
// [Run] only verifies a policy: it tries to prove the policy's claims and finds tools that can
// never be called, rules without effect, and deadlocks. The search itself is in package verify. An
// [Analysis] holds the findings. They become problems ([Analysis.Problems]) and notes, either in a
// [Report] for people and for JSON or in the log of a starting proxy.
//
// If a tool has several names, the rules for all of them apply to it. A verification therefore
// needs a [ToolSet], which lists all names of each tool; see [KnownSet] and [LikelyTools]. The lint
// functions ([NoPolicy], [NoUpstream], [Sessions] and others) check a configuration without
// verifying it. [Report.Steps] replays a counterexample step by step.
//
// An [Effort] limits the number of states and the time of a verification. Results that a limit
// prevents are reported as unknown, together with the option that raises the limit. By default, the
// time is the processor time of a single thread, so Run locks its goroutine to its thread. The
// package starts no goroutines and uses no locks.
package check
