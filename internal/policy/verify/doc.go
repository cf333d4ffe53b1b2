// Package verify says what can and what cannot happen under a policy, before
// anybody calls anything: which names can be called, how soon, or what forbids
// them; whether the rules can lock each other; which of them change nothing;
// and whether assertions hold, with a run that shows where they do not.
//
// # What is explored
//
// A call comes in one of a number of shapes: a physical tool with the names
// that one real call can have together. They are derived from the policy, each
// with arguments that have just these names where some are found. A name with
// a dot is an action of a tool, as rules read it, unless it stands in quotes or
// [Options.Tools] has a tool of that name. Unless [Options.Known] says that there
// is none, a tool may be called so too, or as a map names calls: nothing is
// proved that such a tool breaks, and nothing is refuted by it.
//
// What is never to happen is looked for over all shapes, outcomes and
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
// # How
//
// Nets are automata that move together when a call concerns them. Fewer nets
// forbid less, so a question is first asked of few: a run that they allow is
// played in the whole policy, and a net that forbids it is added, until the run
// stands or there is none. A proof so found names the nets that it needs. Whether
// something is always possible is asked of few nets too, where all are too many: what
// they let pass counts only of calls that no other net ever refuses. Plans
// leave out the orders of calls that do not meet in a net. Large counters begin
// with few tokens, see [space.settled].
//
// What does not fit the budget is unknown, and never proved.
package verify
