// Package sqlite keeps the states of sessions in one file, which several processes of a
// machine may share. It implements backend.Backend.
//
// One connection writes, in transactions that begin with the lock of the database; before
// it, processes take turns by two files to lock, since the lock of SQLite alone is not
// fair. Another connection reads. The journal is a write-ahead log, which is synced by each
// commit that has to be on the disk. Nobody but SQLite checkpoints it, so that programs
// which replicate it may be used.
//
// A process sees that a copy was put in the place of the file by the file itself, and that
// the copy is old by the last record of its own chain. What ended before is known from a
// witness, a small file beside the database.
package sqlite
