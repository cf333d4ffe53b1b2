// Package sqlite stores the checkpoint of the states of sessions in one SQLite file, which several
// processes of a machine may share.
//
// The file has the states at a [Place] of the log that package journal writes, the approvals, the
// stops, and an index of the records in the log. Its main type is [Checkpoint]: [Checkpoint.Fold]
// writes the changes since an earlier place, and [Checkpoint.Read] reads a consistent [Reading].
//
// There are two connections, each with a mutex that is held for one transaction: one writes, and
// each of its transactions is on the disk when it ends; the other one reads. A goroutine that polls
// for changes of approvals and stops uses the reading connection. It starts with the first call of
// [Checkpoint.Changes]. Locks are taken in the order reader, writer.
//
// Only SQLite moves its write-ahead log into the file, so that programs that replicate the file can
// be used.
//
// A process detects by the header of the file that a copy has replaced it (see fileState), and by
// the place in the log that the copy is old.
package sqlite
