// Package sqlite keeps the checkpoint of the states of sessions in one file, which several
// processes of a machine may share: the states as they were at a [Place] of the log, which package
// journal writes, the approvals, and where the records of the log are.
//
// One connection writes, and each transaction is on the disk when it ends. Another connection
// reads. Only SQLite brings its write-ahead log into the file, so that programs which replicate it
// may be used.
//
// A process sees that a copy was put in the place of the file by the file itself. That the copy is
// old follows from its place in the log.
package sqlite
