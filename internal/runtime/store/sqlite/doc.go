// Package sqlite stores the checkpoint of session states in an SQLite file, which several processes
// on a machine can share.
//
// The file contains the states at a [Place] in package journal's log, the approvals, the stops, and
// an index of the records in the log. The main type is [Checkpoint]: [Checkpoint.Fold] writes the
// changes since an earlier place, and [Checkpoint.Read] reads a consistent [Reading].
//
// There are two connections, each with a mutex that is held for one transaction. One connection
// writes, and its transactions are on disk when they end; the other one reads. A goroutine polls
// for changes to approvals and stops over the reading connection; the first call to
// [Checkpoint.Changes] starts it. Lock order: reader, writer.
//
// Only SQLite itself moves its write-ahead log into the file, so that the file can be replicated by
// other programs.
//
// A process detects from the file's header that a copy has replaced the file (see fileState), and
// from the place in the log that the copy is old.
package sqlite
