// Package policydiff determines whether a policy is stricter or looser than another policy.
//
// [Compare] returns a [Comparison] that contains, for each direction, the shortest run whose last
// call the two policies decide differently (a [Witness]). [Widened] uses it to check that a
// configuration only narrows the base policies that it extends, and [Narrower] proves claims that a
// policy does so.
//
// The search explores the product of both policies (product): the same calls begin and end under
// both. The calls are representatives of the classes that either policy distinguishes, from package
// verify, with the names that servers and agents' hooks give them (alphabet). Nets that both
// policies have are omitted until a difference depends on one of them, as in counterexample-guided
// abstraction refinement: each difference is replayed under the whole policies, with the semantics
// of package gate.
//
// Before the search, some differences are excluded structurally. Nets only restrict, so a policy
// that has an equal or stricter net for each net of the other policy cannot be looser (order.go).
// Limits with different numbers are compared by repeating a call (repeated.go). A second, loose
// search also covers calls and times that cannot be shown to be possible. If it finds no
// difference, the comparison is complete.
//
// A Comparison that is not Complete states the reason and may miss differences, but its Witnesses
// are always real. A Comparison is not safe for concurrent use.
package policydiff
