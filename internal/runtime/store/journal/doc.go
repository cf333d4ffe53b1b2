// Package journal stores session states in a write-ahead log with a checkpoint. Several processes on
// the same machine can share a log. The package implements [backend.Backend].
//
// # Storage
//
// Each step, such as the admission of a call, is appended to the log: one line for each record, and
// a line with the state changes. A step is committed when its last line is in the file. For each
// call, the log is written twice, about a kilobyte each time. By default (see [Full]), it is flushed
// only if the call changes a part of the state that outlives the process, or uses an approval. A
// flush runs concurrently with writes and serves all waiting steps (group commit).
//
// The database of package sqlite is the checkpoint: the state after some step of the log, and the
// position of that step. A background goroutine writes it once a second, or after every 8 MiB of
// log; this is called folding.
//
// A full segment of the log is renamed. When the checkpoint contains all of its steps, the segment
// is sealed: only its records are kept, without the arguments and state values in the step lines.
// Old records are removed segment by segment.
//
// # Concurrency
//
// Only the process that holds the process lock may append, after it has read the steps appended by
// other processes. It releases the lock soon after it stops appending, or about 10 ms after another
// process begins to wait for the lock. Reading does not require the process lock.
//
// Lock order of [Backend]: appending, the process lock, folding, mu (which guards the image and the
// log file). A flusher has its own lock, which is acquired last and is not held during a flush.
// One goroutine folds; a timer releases the process lock.
//
// # Recovery
//
// After a crash the log is ahead of the checkpoint. The next process replays the rest of the log and
// removes everything after the last whole step. Each step contains the hash of all steps before it,
// so a torn write is never mistaken for a step.
//
// # Main types
//
//   - [Backend]: the open log with its checkpoint, for several goroutines
//   - replica: this process's view of the log
//   - image: the difference between the checkpoint and the state at the end of the log
//   - log and directory: the current segment, and the files beside the database
//   - batch and step: the steps of a single write
//   - processLock: the lock between processes
//   - flusher: the flushes of a segment
//   - archive: the renamed and sealed segments
//
// PROTOCOL.md describes the protocol, what remains after each kind of crash, and why a crash cannot
// let calls exceed a budget. Package model explores the protocol.
package journal
