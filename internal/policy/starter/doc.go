// Package starter proposes a first policy from the tools that the servers of a configuration list:
// the text that petrigate init writes.
//
// [New] creates a [Plan] for the tools of servers, and [NewAgent] for the built-in tools of an
// agent. A plan holds rules with a comment on each, claims about them, and the keys that put them
// into force in shadow mode. What each tool does is guessed from its name, hints and schema
// (package toolkind).
//
// A plan has passed the checks of check --strict --live: no tool is uncallable, no state is a
// deadlock, and every claim is proved. New leaves out rules that would not pass, line by line, and
// verifies the rest again.
//
// [Plan.Run] shows the plan, asks, and writes it; [Plan.Write] never overwrites rules and changes
// only missing keys of the configuration. If a policy exists, only the statements that it lacks are
// printed.
package starter
