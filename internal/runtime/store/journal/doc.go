// Package journal keeps the states of sessions in a log with a checkpoint, which several processes of a
// machine may share. It implements backend.Backend.
//
// A write-ahead log has all that happens: each step of the gate is its records, a line each, and a line
// that says how the state moves by it. A step is committed once its lines are in the file. So a call
// costs two writes of a kilobyte, and a flush only if it moves a part that outlives the process. A flush runs
// beside the writes, and serves all that wait for one. The database of package sqlite is the checkpoint:
// the state as it was at some step, and how far the log is folded in. It is written in the background,
// once a second or every 8 MiB.
//
// One process at a time has the turn: only it appends, after it has read what others have appended.
// It keeps the turn as long as no other process waits for it, for 10 ms where one does. Whoever only
// reads needs no turn.
//
// A crash leaves a log that is ahead of the checkpoint. Whoever opens it reads on from there; what
// stands behind the last whole step is cut off. Each step has the hash of all before it, so that
// what the power has torn is no step.
//
// A segment of the log that is full is put aside, and once it is folded only its records are kept:
// the arguments and values in states are not on record. Old records are removed by segments.
//
// PROTOCOL.md describes the protocol, what remains after each kind of end, and why no budget is exceeded.
// Package model explores it.
package journal
