// Package starter proposes a first policy for the servers of a configuration, from the tools
// that they list: what petrigate init writes.
//
// [New] makes a [Plan]: rules with a comment on each, claims about them, and the keys that put
// them in force in shadow. The plan has passed what check --strict --live asks of a policy: no
// tool is dead, no state is stuck, and every claim is proved. A rule that would not pass is left
// out. [Plan.Write] never overwrites anything.
package starter
