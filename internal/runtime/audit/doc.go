// Package audit records every decision, the outcome of every admitted call, and operators' actions,
// each as one JSON object.
//
// A [Recorder] writes events to a [Storage], such as a [Log]: an append-only file of JSON lines.
// The package fails closed: if [Recorder.Write] cannot record an action, its caller does not
// perform the action. [Recorder.Ready] reports in advance whether a write would fail. Once records
// can be written again, Ready adds a record that marks the end of the gap. Arguments are recorded
// as hashes unless configured otherwise (see [Redactor]).
//
// Records form a hash chain (see [Link]), so that changed or missing records can be detected.
// Several processes can append to the same file. They take turns using a file lock (flock), and
// each continues the chain from the last line. A head file next to the log holds the last number
// and hash, so that truncation of the log can be detected. A busy process takes a lease: it keeps
// the file lock for a few milliseconds and appends to a memory-mapped file (pendingFile). When the
// lease ends, the lines are moved to the log in one write.
//
// Staged records ([Recorder.Stage]) are stored in order by group commit: the first waiter stores
// all records that have arrived (see queue).
//
// The record of a call is encoded by Recorder.Prepare (recorder.go) and queued by queue.Stage
// (queue.go). Staged.Wait then stores it through Recorder.store, a [Feed] and Log.AppendAll
// (log.go).
//
// Locks: Log.mu guards the log and is held during writes. queue.mu guards the batches and is not
// held while they are stored. Buffer.mu may be locked while Feed.mu is held, never the reverse.
// The package's only goroutine is the lease timer.
package audit
