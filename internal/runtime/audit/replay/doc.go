// Package replay repeats the decisions in an audit log under a policy ([Replay]). Under the policy
// that was in force, every verdict must equal the recorded one. Under another policy, the report
// lists the decisions that would differ.
//
// A record does not contain a call's arguments, only hashes of the values that nets read. The nets
// are therefore rebuilt to read the record instead of the call (recordedCall). Nothing is guessed:
// a net that needs an unrecorded value is deactivated in the session, and decisions that depend on
// the net are counted as unknown.
//
// If every verdict agrees, the replayed marking equals the live session's marking. [Replay.State]
// returns it for each session and net whose records go back to their beginning. A Replay must not
// be used concurrently.
package replay
