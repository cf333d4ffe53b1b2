// Package audit records every decision, the end of every admitted call, and the actions of
// operators, as one JSON object each.
//
// A [Recorder] writes events to a [Storage], such as a [Log]: a file of JSON lines that is only
// appended to. The policy is fail-closed: the caller of [Recorder.Write] does not perform an action
// that could not be recorded, and [Recorder.Ready] reports beforehand that a write would fail. The
// first record after a gap says that records are missing. Arguments are recorded as hashes unless
// configured otherwise ([Redactor]).
//
// Records form a hash chain ([Link]), so that changed and missing records are found. Several
// processes can append to the same file. They take turns with a lock on the file (flock) and
// continue the chain from its last line. A head file beside the log has the last number and hash,
// so that a truncated log is detected. A busy process holds a lease: it keeps the file lock for
// some milliseconds and appends to a memory-mapped file (pendingFile), whose lines are moved to the
// log in one write.
//
// Records that are staged ([Recorder.Stage]) are stored in order by group commit: the first waiter
// stores all records that have arrived (see queue).
//
// Locks: Log.mu guards the log and is held during writes. queue.mu guards the batches and is not
// held while they are stored. Feed.mu may be held while Follower.mu is taken, never the reverse.
// The only goroutine is the timer of a lease.
package audit
