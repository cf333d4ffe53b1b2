// Package mining finds rules that a record of calls supports: what petrigate suggest prints.
//
// It reads the log as a stream, session by session, and looks for what always held: a call that
// always came after a success of another (require A before B, for each call or once, with the
// same value of one field or two), or of one of two (or), or anew behind a third (since), numbers of calls that were reached and never passed, calls that never
// followed what strangers may have written, and equal calls in a row. That nothing speaks
// against a rule is not enough: two tools that every session uses in any order would come
// out in one order often enough. So each rule is held against chance ([chance]) and needs a
// number of sessions.
//
// The forms of order are those of Perracotta (Yang, Evans, Bhardwaj, Bhat and Das: Perracotta: Mining
// Temporal API Rules from Imperfect Traces, ICSE 2006): "require A before B once" is its
// precedence, "require A before B" its alternation with repeated causes (AA*B)*. As there, a
// rule that follows from a chain of others is left out. That a rule must beat independence, and not
// only be frequent, is the lift of association rules (Brin, Motwani, Ullman and Tsur, 1997); the
// bound is divided by the number of rules that were tried (Bonferroni).
// Of A or B before C each has to stand in for the other more often than independent ones would ([covered]), and a call at the
// beginning of most sessions has to be there more often than in other sessions ([present]).
//
// What is found is proved: all rules together are replayed over the log, and one that would
// refuse or ask about a call that passed is dropped, until none does ([Miner.Prove]). Rules that the policy at
// hand proves or makes redundant are dropped too ([Against]).
package mining
