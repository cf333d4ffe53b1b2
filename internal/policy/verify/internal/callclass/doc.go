// Package callclass enumerates the classes of calls that a policy tells apart: a
// physical tool with the names that one call can have together.
//
// A class has a witness where one is found: arguments that have just these names.
// They are synthesized from the patterns of maps and rules (synthesis.go), from
// regexes and commands (pattern.go) and from the values that conditions name
// (conditions.go). A class without a witness is doubtful: nothing is refuted by it,
// and nothing that it breaks is proved.
//
// The classes of a tool with many maps are too many to list. Such a tool stays open
// (open.go), and so do names that many patterns match (patterns.go): a question
// sees few of them, and its classes are made when it is asked.
package callclass
