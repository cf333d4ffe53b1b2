// Package verify says what can and what cannot happen under a policy, before
// anybody calls anything: which names can be called, how soon, or what forbids
// them; whether the rules can lock each other; which of them change nothing;
// and whether assertions hold, with a run that shows where they do not.
//
// # What is explored
//
// A call comes in one of a number of classes: a physical tool with the names
// that one real call can have together. They are derived from the policy, each
// with arguments that have just these names where some are found. A name with
// a dot is an action of a tool, as rules read it, unless it stands in quotes or
// [Options.Tools] has a tool of that name. Unless [Options.Known] says that there
// is none, a tool may be called so too, or as a map names calls: nothing is
// proved that such a tool breaks, and nothing is refuted by it.
//
// What is never to happen is looked for over all classes, outcomes and
// interleavings: a call begins; it ends with a success, a failure, or nobody
// knows how. What is possible is looked for in runs in which each call succeeds
// before the next begins and people agree. A claim that something is always
// possible, or that nothing locks, is about every state of the first kind and
// runs of the second.
//
// An advisory net is taken to block always. A run that is found so is real; that
// there is none is proved only where that holds without what advisory nets block.
//
// The semantics are those of package gate, written a second time: each is
// tested against the other.
//
// # Where
//
// Package verify has the questions, the proofs and the remedies. The classes of
// calls that a policy tells apart are made by internal/callclass. Nets as
// automata, their states and the searches are in internal/explore.
//
// What does not fit the budget is unknown, and never proved.
package verify
