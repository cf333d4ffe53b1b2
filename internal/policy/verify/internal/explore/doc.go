// Package explore searches what a policy can do: the runs of calls that it admits and the states
// that they lead to. It answers whether a query is ever met ([Model.NeverMet]), whether a goal can
// always be reached ([Space.FindLock]), which nets are redundant ([Model.RedundantNets]), and which run
// leads to a call ([Model.Plan]).
//
// The state space. Each net is an automaton ([Net]). Its local states consist of a marking, the
// transitions in flight, and a few flags. They are numbered when they are first reached, and each
// step from a local state is computed once. A [Space] holds the product states of some nets, with
// the calls in flight and the monitor of a [Query], over all outcomes and interleavings. A run
// replays moves one by one in all nets, with the same semantics as package gate.
//
// Abstraction refinement. Fewer nets forbid less, so a view with a few of the nets
// over-approximates the policy. A query is first explored in such a view. A run found there is
// replayed in the whole policy, and a net that blocks it is added to the view, until all nets admit
// a run or no run is left in the view. This is counterexample-guided abstraction refinement
// (Clarke, Grumberg, Jha, Lu and Veith, CAV 2000), where the abstraction drops whole components, as
// in Kurshan's localization reduction. A proof names the nets that it needs. If the nets have too
// many states together, a few nets can also decide whether something is always possible, provided
// that only calls that no other net ever refuses are counted.
//
// Reductions. Plans ignore the order of calls that share no net (strong stubborn sets, Valmari,
// "Stubborn sets for reduced state space generation", 1990) and are guided by sets of calls that
// every plan contains (landmarks, Helmert and Domshlak, ICAPS 2009). Large counters start with few
// tokens if a cut-off is found; see [Space.saturated]. A net with a key is explored for one
// arbitrary value; see [callclass.Datum]. Some queries are refuted or proved without exploration,
// by a Cartesian abstraction (relaxation) or by backward induction (attractor).
//
// A search ends when its budget of states or its time is exhausted, and its answer is then
// [Unknown]. Answers are never guessed: [Proved] and [Refuted] hold for the policy as the gate
// enforces it. A [Model] starts no goroutines and is not safe for concurrent use.
package explore
