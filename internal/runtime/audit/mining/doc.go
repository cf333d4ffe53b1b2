// Package mining finds policy rules that a record of calls supports. The command "petrigate
// suggest" prints them.
//
// It reads the log as a stream of sessions and looks for invariants: a call that always came after
// a success of another ("require A before B", for each call or once, with the same value of one or
// two fields), after one of two others ("or"), or again after a third ("since"); numbers of calls
// that were reached and never exceeded; sums that were never exceeded; calls that never followed
// untrusted content; and consecutive identical calls. The absence of counterexamples is not enough:
// two tools that every session uses in random order often appear in one order only. Each rule
// therefore needs a minimum number of sessions and is tested against chance ([chance]). Only limits
// that leave headroom are not tested.
//
// The ordering rules are those of Perracotta (Yang, Evans, Bhardwaj, Bhat and Das: Perracotta:
// Mining Temporal API Rules from Imperfect Traces, ICSE 2006): "require A before B once" is its
// precedence, and "require A before B" is its alternation with repeated causes (AA*B)*. As in
// Perracotta, rules that follow from a chain of others are left out. A rule must not only be
// frequent but beat independence, as measured by the lift of association rules (Brin, Motwani,
// Ullman and Tsur, 1997); the significance level is divided by the number of tested rules
// (Bonferroni). For "A or B before C", each call must replace the other more often than independent
// calls would ([coveredByChance]). A call that most sessions begin with must be more frequent in
// sessions with C than in others ([presentByChance]).
//
// The work is done in steps. [Mine] walks the log once for a survey of all pairs of tools, and up
// to twice more for candidates that need values or three calls. [Miner.Prove] then replays the log
// under all proposals together. It weakens or drops proposals that would refuse or ask about a call
// that passed, or that the records do not suffice to prove, until none is left.
// [Report.DropRedundant] drops proposals that are unnecessary or harmful under the current policy.
// The memory use is bounded (by maxTools, maxFields, maxValues and others), however long the log.
// The package starts no goroutines.
package mining
