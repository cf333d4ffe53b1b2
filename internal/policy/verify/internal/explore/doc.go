// Package explore searches the runs of calls that a policy admits and the states that they lead to.
// It answers whether a query is ever met ([Model.NeverMet]), whether a goal can always be reached
// ([Space.FindLock]), which nets are redundant ([Model.RedundantNets]), and which run leads to a
// call ([Model.Plan]).
//
// The state space. Each net is an automaton ([Net]). Its local states consist of a marking, the
// transitions in flight, and a few flags. They are numbered when they are first reached, and each
// step from a local state is computed once. A [Space] holds the reachable combined states of some
// nets, over all outcomes and interleavings. A combined state also contains the calls in flight and
// the state of the [Query]. A run is replayed in all nets, one move at a time, with the same
// semantics as in package gate.
//
// Abstraction refinement. A view consists of only some of the nets. It over-approximates the
// policy, because leaving out nets only admits more runs. A query is first explored in a view with
// a few nets. A run found there is replayed in the whole policy, and a net that blocks it is added
// to the view. This ends when all nets admit a run or when the view admits no run. The method is
// counterexample-guided abstraction refinement (Clarke, Grumberg, Jha, Lu and Veith, CAV 2000),
// where the abstraction drops whole components, as in Kurshan's localization reduction. A proof
// names the nets that it needs. If all nets together have too many states, a view can also show
// that something is always possible, provided that the calls leading there are never refused by a
// net outside the view.
//
// Reductions. The search for a plan ignores the order of calls that share no net (strong stubborn
// sets, Valmari, "Stubborn sets for reduced state space generation", 1990). It is guided by sets of
// calls such that every plan contains a call of each set (landmarks, Helmert and Domshlak, ICAPS
// 2009). Large counters start with few tokens if a cut-off is found; see [Space.saturated]. A net
// with a key is explored for one arbitrary value; see [callclass.Datum]. Some answers are proved
// without exploration, by a Cartesian abstraction (relaxation) or by backward induction
// (attractor).
//
// If a search runs out of time or states, its answer is [Unknown]. Answers are never guessed:
// [Proved] and [Refuted] hold for the policy as the gate enforces it. The exception is a run that
// refutes a claim in a policy with keys or sums. It must be replayed, because the gate might refuse
// it.
//
// A [Model] starts no goroutines and is not safe for concurrent use.
package explore
