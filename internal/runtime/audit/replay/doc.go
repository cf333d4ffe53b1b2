// Package replay repeats the decisions in an audit log under a policy ([Replay]). Under the policy
// that was in force, every verdict must equal the recorded one. Under another policy, the report
// lists the decisions that would differ.
//
// A record contains hashes of the values that nets read, but not always the arguments of the call.
// The nets are therefore rebuilt to read the recorded values (recordedCall). If a net needs a value
// that was not recorded, it is deactivated in the session, and decisions that depend on it are
// counted as unknown.
//
// If every verdict agrees, the replayed marking is that of the live session. [Replay.State] returns
// it for each session and net whose records are complete from the beginning. A Replay is not safe
// for concurrent use.
package replay
