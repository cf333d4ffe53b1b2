// Package mining finds policy rules that a record of calls supports. The command "petrigate
// suggest" prints them.
//
// It reads the log as a stream of sessions and looks for facts that always held:
//
//   - B was called only after a success of A ("require A before B"): after one success in the
//     session ("once"), or after a new success for each call to B. Sometimes both calls also have
//     the same value in one or two fields ("with same").
//   - B was called only after a success of A or of another call ("or").
//   - After a call to C, B was called only after a new success of A ("since").
//   - A number of calls was reached and never exceeded, or a sum was never exceeded.
//   - A call never followed untrusted content.
//   - Identical calls never followed each other more than a certain number of times.
//
// The absence of counterexamples is not enough: two tools that every session uses in random order
// often appear in one order only. Each rule therefore needs a minimum number of sessions and is
// tested against chance ([chance]). The only exceptions are limits above the observed maximum,
// which are not tested.
//
// The ordering rules are those of Perracotta (Yang, Evans, Bhardwaj, Bhat and Das: Perracotta:
// Mining Temporal API Rules from Imperfect Traces, ICSE 2006). "require A before B once"
// corresponds to precedence there, and "require A before B" to alternation with repeated causes
// (AA*B)*. As in Perracotta, rules that follow from a chain of others are left out. A rule must be
// more than frequent: it must hold more often than it would for independent calls, as measured by
// the lift of association rules (Brin, Motwani, Ullman and Tsur, 1997). The significance level is
// divided by the number of tested rules (Bonferroni). For "A or B before C", each of A and B must
// replace the other more often than independent calls would ([coveredByChance]). A call that most
// sessions begin with must be more frequent in sessions with C than in others ([presentByChance]).
//
// The work is done in steps. [Mine] reads the log once to collect statistics about all pairs of
// tools, and up to twice more to test rules about values or about three calls. [Miner.Prove] then
// replays the log under all proposals together. It weakens or drops proposals that would refuse a
// call that passed, that would require approval for it, or that the records do not suffice to
// prove. [Report.DropRedundant] drops proposals that are unnecessary or harmful under the current
// policy.
//
// Most of the memory use is bounded (by maxTools, maxFields, maxValues and others), however long
// the log is. It still grows with the numbers of argument names, principals and processes, and with
// the number of sessions whose end is not in the log. The package starts no goroutines.
package mining
