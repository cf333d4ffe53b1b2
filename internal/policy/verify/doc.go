// Package verify analyzes a policy before any call is made. It determines which names can be called
// and after how many calls, which nets forbid the other names, whether the rules can deadlock,
// which rules have no effect, and whether assertions hold. If an assertion does not hold, the
// package looks for a counterexample, a run that violates it.
//
// [Policy] returns a [Report] with all of these findings. A [RemedyFinder] finds the calls that
// make a refused call possible again. [Calls] lists the kinds of calls that a policy distinguishes,
// for use by other tools.
//
// # Scope
//
// Calls are grouped into classes. A class is a tool together with the names that a single call to
// it can have and, if they can be found, arguments that give a call exactly these names. Classes
// are derived from the policy. As in rules, a name with a dot is an action of a tool, unless it is
// quoted or [Options.Tools] contains a tool with that name. Unless [Options.Known] is set, a tool
// might exist whose name has a dot or is a name that a map statement gives to calls. If such a tool
// would violate a claim, the claim is neither proved nor refuted.
//
// Claims that something never happens are checked over all classes, outcomes and interleavings; a
// call can succeed, fail or end with an unknown outcome. Claims that something is possible are
// checked over runs where each call succeeds before the next begins and all approvals are granted.
// A claim that something is always possible, or that nothing deadlocks, combines the two: each
// state that is reachable over all outcomes and interleavings must have a continuation where all
// calls succeed.
//
// An advisory net lets some calls pass that it would otherwise block, for example if no tool would
// be left; see [gate.Net].Advisory. The searches assume that it always blocks. A run found under
// this assumption is real; the absence of a run is proved only if it also holds without the
// advisory nets.
//
// # Method
//
// The searches use counterexample-guided abstraction refinement over nets, cut-offs for large
// counters, and stubborn sets for plans; see internal/explore for these techniques and their
// sources. The semantics of nets are implemented a second time, independently of package gate, and
// the two implementations are tested against each other. The searches ignore arguments. If some net
// judges arguments, each run is therefore replayed in a [gate.Session] before it is reported.
//
// # Structure
//
// This package proves or refutes claims and finds remedies. Each kind of claim is an [Assertion]
// with a method prove, in a file such as prove_before.go. Package internal/callclass derives the
// classes of calls that a policy distinguishes. Package internal/explore contains the nets as
// automata, their states and the searches.
//
// If a search exceeds the limits on time or states, its result is unknown. A [RemedyFinder] locks
// its model and is safe for concurrent use.
package verify
