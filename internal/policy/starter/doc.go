// Package starter proposes a first policy for the tools that a configuration's servers list. It
// produces the text that "petrigate init" writes.
//
// [New] creates a [Plan] for servers' tools, and [NewAgent] creates one for an agent's built-in
// tools. A plan consists of commented rules, claims about them, and the configuration keys that
// activate them in shadow mode. What each tool does is guessed from its name, hints and schema
// (package toolkind).
//
// Every plan has passed the checks of "check --strict --live": no tool is uncallable, no state is a
// deadlock, and every claim is proved. New removes lines that would not pass, one by one, and
// verifies the remaining rules again.
//
// [Plan.Run] shows the plan, asks for confirmation, and writes the plan. [Plan.Write] never
// overwrites rules and only adds missing keys to the configuration. If a policy already exists,
// only the proposed statements that it lacks are printed.
package starter
