// Package verify decides, before any call is made, whether things can happen under a policy: which
// names can be called and how soon, or what forbids them; whether the rules can block each other
// forever; which rules have no effect; and whether assertions hold, with a run as a counterexample
// if they do not.
//
// [Policy] returns a [Report] for all of this. A [RemedyFinder] finds the calls that make a refused
// call possible again. [Calls] lists the kinds of calls of a policy for other tools.
//
// # Scope
//
// Every call belongs to a class: a physical tool with the names that one real call can have
// together. Classes are derived from the policy, each with arguments that have exactly these names
// if some are found. A name with a dot is an action of a tool, as rules read it, unless it is
// quoted or [Options.Tools] has a tool of that name. Unless [Options.Known] is set, there may also
// be a tool with such a name, or with the name of a label. A claim that such a tool violates is not
// proved, and no claim is refuted by it.
//
// Whether something never happens is decided over all classes, outcomes and interleavings: a call
// begins, and ends with a success, a failure or an unknown outcome. Whether something is possible
// is decided in runs where each call succeeds before the next begins and approvals are granted. A
// claim that something is always possible, or that nothing deadlocks, is about every state of the
// first kind and runs of the second kind.
//
// An advisory net is assumed to block always. A run found under this assumption is real; the
// absence of a run is proved only if it also holds without the advisory nets.
//
// # Method
//
// The searches are counterexample-guided abstraction refinement over nets, with cut-offs for large
// counters and stubborn sets for plans; see internal/explore for the techniques and their sources.
// The semantics are those of package gate, implemented a second time, and each implementation is
// tested against the other. Before a run is reported, a [gate.Session] replays it if some net
// judges arguments, since the searches do not look at arguments.
//
// # Structure
//
// This package has the questions, the proofs and the remedies. Internal/callclass derives the
// classes of calls that a policy distinguishes. Internal/explore has the nets as automata, their
// states and the searches.
//
// Whatever exceeds the budget is reported as unknown, never as proved. A [RemedyFinder] may be used
// concurrently: it locks its model.
package verify
