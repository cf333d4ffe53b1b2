// Package callclass enumerates the classes of calls that a policy distinguishes. A class is a tool
// together with the names that a single call can have. There are infinitely many calls, so the
// verification explores classes instead.
//
// An [Enumerator] is created by [New] from the nets, the maps and the names in assertions. A [Net]
// translates a call's names into the call's [Meaning]: the transitions that list each name, and
// what exempts or bars the call. Two classes with equal names, meanings and values are the same
// class.
//
// The witness of a class consists of arguments that give a call exactly the names of the class.
// Witnesses are synthesized from glob patterns by a search over their product automaton
// (synthesis.go), from regular expressions and commands (pattern.go), and from the constants in
// conditions (conditions.go). A class without a known witness is doubtful: it refutes nothing, and
// a claim that it violates is not proved.
//
// A tool with many maps has too many classes to list. Such a tool is deferred (open_tool.go), and
// so are names that many patterns match (open_names.go). A question can distinguish only a few of
// the deferred classes, which are created when the question is asked.
//
// A net with a key is enumerated for one tracked value (data.go); other_values.go and witness.go
// fill in concrete values when a run is replayed. The package starts no goroutines and uses no
// locks. An Enumerator caches results and is not safe for concurrent use.
package callclass
