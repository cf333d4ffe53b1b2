// Package sqlite stores the checkpoint of session states in an SQLite file, which several processes
// on a machine can share.
//
// The file contains the states at a certain position in the log of package journal (see [Place]),
// the approvals, the stops, and an index of the log's sealed segments (files that contain only
// records). The main type is [Checkpoint]: [Checkpoint.Fold] writes the changes since an earlier
// position, and [Checkpoint.Read] reads a consistent [Reading].
//
// There are two connections, each with a mutex that is held for one transaction. One connection
// writes, and its transactions are on disk when they end; the other one reads. The first call to
// [Checkpoint.Changes] starts a goroutine that polls for changes to approvals and stops over the
// reading connection. Lock order: reader, writer.
//
// The package leaves it to SQLite to move the write-ahead log into the file, so that other programs
// can replicate the file.
//
// If a copy overwrites the file, a process detects this by comparing the file's state (see
// fileState). It recognizes an old copy by an earlier position in the log or by a lower change
// counter in the file's header.
package sqlite
