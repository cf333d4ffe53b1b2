// Package policydiff decides whether a policy is stricter or looser than another one.
//
// [Compare] returns a [Comparison] with, for each direction, the shortest run whose last call the
// two policies decide differently (a [Witness]). [Widened] uses it to check that a configuration
// only narrows the base policies that it extends, and [Narrower] proves claims of this kind.
//
// The search explores the product of both policies (product): the same calls begin and end under
// both. Calls are representatives of the classes that either policy distinguishes, from package
// verify, with the names that servers and hooks of agents give them (alphabet). Nets that both
// policies have are left out until a difference depends on one of them, as in counterexample-guided
// abstraction refinement: each difference is replayed under the whole policies, by the semantics of
// package gate.
//
// Before the search, some differences are excluded structurally: nets only restrict, so a policy
// with an equal or stricter net for each net of the other cannot be looser (order.go). Limits that
// differ in their numbers are compared by repeating a call (repeated.go). A second, loose search
// also covers calls and times that cannot be shown to be possible: if it finds no difference, the
// comparison is complete.
//
// A result that is not Complete gives the reason, and may miss differences; a Witness is always
// real. A Comparison must not be used concurrently.
package policydiff
