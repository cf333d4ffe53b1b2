// Package replay makes the decisions of an audit log again under a policy: the one that was
// in force, where every verdict has to come out as it is on record, or another one, of
// which it says what would have been decided otherwise ([Replay]).
//
// Records have of arguments what nets read in them, as hashes. So the nets are rebuilt to
// read the record in place of the call. What is not on record is not guessed: a net that
// needs it takes no part any more, and what depends on it is counted as not known.
//
// Where every verdict comes out, the nets stand as they stood: [Replay.State] says where, of
// each session and net whose records go back to its begin.
package replay
