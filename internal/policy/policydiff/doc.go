// Package policydiff determines whether one policy is stricter or looser than another.
//
// [Compare] returns a [Comparison]. It reports two kinds of difference: whether the new policy is
// stricter, and whether it is looser. For each of them, the Comparison contains a [Witness], a
// sequence of calls that ends when the two policies decide differently on a call. [Widened] uses
// comparisons to check that a configuration only narrows the base policies that it extends.
// [Narrower] uses them to prove claims that a policy only narrows the rules in a file.
//
// The search explores the product of the two policies (product.go): the same calls begin and end
// under both. Package verify divides the calls into classes that neither policy distinguishes
// further, and provides a representative call of each class. These calls have the names that
// servers and agents' hooks give to tools (alphabet.go). Unless a policy denies calls by default,
// nets that both policies have are omitted until a difference depends on one of them, as in
// counterexample-guided abstraction refinement. Each difference is replayed under the complete
// policies, with the semantics of package gate.
//
// Some differences are ruled out before the search. Because nets only restrict calls, a policy that
// has an equal or stricter net for each net of the other policy cannot be looser (order.go). Limits
// with different numbers are compared by repeating a call (repeated.go). A second, loose search
// also covers calls and times that might be impossible. If it finds no difference, the comparison
// is complete.
//
// An incomplete Comparison states the reason and may miss differences, but each Witness is always
// real. A Comparison is not safe for concurrent use.
package policydiff
