// Package explore searches what a policy can do: runs of calls, and states that
// they lead to.
//
// A net is an automaton ([Net]). Nets move together when a call concerns them. Fewer
// nets forbid less, so a question is first asked of few: a run that they allow is
// replayed in the whole policy, and a net that forbids it is added, until the run
// stands or there is none. A proof so found names the nets that it needs. Whether
// something is always possible is asked of few nets too, where all are too many:
// what they let pass counts only of calls that no other net ever refuses. Plans
// leave out the orders of calls that do not meet in a net. Large counters begin
// with few tokens, see [Space.saturated].
//
// A search ends where its budget of states or the time is spent: its answer is
// [Unknown] then.
package explore
