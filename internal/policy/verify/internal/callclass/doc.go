// Package callclass enumerates the classes of calls that a policy distinguishes: a physical tool
// with the names that one call can have together. The verification explores classes instead of the
// infinitely many calls.
//
// An [Enumerator] is created by [New] from the nets, the maps and the names in assertions. A [Net]
// translates the names of a call into its [Meaning]: the transitions that list each name, and what
// exempts or bars the call. Two classes with equal names, meanings and values are the same class.
//
// A class has a witness if one is found: arguments that have exactly these names. Witnesses are
// synthesized from glob patterns by a search over their product automaton (synthesis.go), from
// regular expressions and commands (pattern.go), and from the constants in conditions
// (conditions.go). A class without a witness is doubtful: it refutes nothing, and a claim that it
// violates is not proved.
//
// The classes of a tool with many maps are too many to list. Such a tool is deferred
// (open_tool.go), and so are names that many patterns match (open_names.go): each question sees
// only few of them, and the classes for these are created when the question is asked.
//
// A net with a key is enumerated for one tracked value (data.go); other_values.go and witness.go
// fill in concrete values when a run is replayed. The package has no goroutines and no locks; an
// Enumerator caches results and must not be used concurrently.
package callclass
