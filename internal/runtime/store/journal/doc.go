// Package journal stores the states of sessions in a write-ahead log with a checkpoint. Several
// processes of one machine may share it. It implements [backend.Backend].
//
// # Storage
//
// Each step of the gate is appended to the log: one line for each record, and a line with the
// changes of the state. A step is committed when its last line is in the file. A call therefore
// costs two writes of about a kilobyte, and a flush only if the call changes a part that outlives
// the process. A flush runs concurrently with writes and serves all steps that wait for one (group
// commit). The database of package sqlite is the checkpoint: the state at some step of the log, and
// the position of that step. It is written in the background, once a second or every 8 MiB of log;
// writing it is called folding.
//
// A full segment of the log is renamed. When the checkpoint contains all of it, it is sealed: only
// its records are kept, since arguments and values in states are not part of the record. Old
// records are removed segment by segment.
//
// # Concurrency
//
// Only the process that holds the process lock may append, after it has read what others have
// appended. It keeps the lock while no other process waits for it, and otherwise for at most 10 ms.
// Reading needs no process lock.
//
// [Backend] has three mutexes, taken in this order: appending, the process lock between processes,
// folding, mu (the image and the log file). A flusher has a lock of its own, which is taken last
// and is not held during a flush. One goroutine folds; a timer gives up the process lock.
//
// # Recovery
//
// After a crash the log is ahead of the checkpoint. The next process replays the log from there and
// cuts off everything behind the last whole step. Each step contains the hash of all steps before
// it, so a torn write is never taken for a step.
//
// # Main types
//
//   - [Backend]: the open log with its checkpoint, for several goroutines
//   - replica: the log as this process has read it
//   - image: the state at the end of the log, as far as it differs from the checkpoint
//   - log and directory: the current segment, and the files beside the database
//   - batch and step: the steps that are appended in one write
//   - processLock, flusher, archive: the lock between processes, flushes, renamed and sealed segments
//
// PROTOCOL.md describes the protocol, what remains after each kind of crash, and why no budget is
// exceeded. Package model explores the protocol.
package journal
