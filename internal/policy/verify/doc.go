// Package verify analyzes a policy before any call is made. It determines which names can be called
// and how soon, or what forbids them; whether the rules can block each other forever; which rules
// have no effect; and whether assertions hold. An assertion that does not hold comes with a run as
// a counterexample.
//
// [Policy] returns a [Report] with all of these findings. A [RemedyFinder] finds the calls that
// make a refused call possible again. [Calls] lists the kinds of calls that a policy distinguishes,
// for use by other tools.
//
// # Scope
//
// Every call belongs to a class: a physical tool together with the names that a single real call
// can have. Classes are derived from the policy. If arguments are found that give a call exactly
// these names, they are part of the class. As in rules, a name with a dot is an action of a tool,
// unless it is quoted or [Options.Tools] contains a tool with that name. Unless [Options.Known] is
// set, there may also be a tool with such a name or with the name of a label. If such a tool
// violates a claim, the claim is neither proved nor refuted.
//
// Whether something never happens is decided over all classes, outcomes and interleavings: a call
// begins, and it ends with a success, a failure or an unknown outcome. Whether something is
// possible is decided by runs where each call succeeds before the next begins and all approvals are
// granted. A claim that something is always possible, or that nothing deadlocks, covers every state
// that runs of the first kind reach; it is decided by continuing from there with runs of the second
// kind.
//
// Advisory nets are assumed to block always. A run found under this assumption is real; the absence
// of a run is proved only if it also holds without the advisory nets.
//
// # Method
//
// The searches use counterexample-guided abstraction refinement over nets, cut-offs for large
// counters, and stubborn sets for plans; see internal/explore for these techniques and their
// sources. The semantics are a second implementation of those of package gate, and the two
// implementations are tested against each other. The searches ignore arguments. If some net judges
// arguments, a [gate.Session] therefore replays a run before it is reported.
//
// # Structure
//
// This package contains the questions, the proofs and the remedies. Package internal/callclass
// derives the classes of calls that a policy distinguishes. Package internal/explore contains the
// nets as automata, their states and the searches.
//
// Whatever exceeds the effort limits is reported as unknown, never as proved. A [RemedyFinder] may
// be used concurrently: it locks its model.
package verify
