// Package store implements [admission.Ledger]: it stores the nets' states and the records of
// decisions. It also stores the data shared by all processes that use the same database: the kill
// switch, each process's heartbeat, and the data of calls that take several round trips with the
// client.
//
// There are two ledgers. [Memory] keeps the states in a process's memory and sends its records to
// an audit.Recorder. [Durable] stores them in a database, a backend.Backend, which other processes
// can use at the same time; it caches states that this process has used.
//
// The state that a decision depends on consists of up to three parts: the nets of the session, the
// nets shared by all sessions of the same principal, and the nets shared by all sessions. In
// memory, the type entry holds the first part, and the type part holds each of the others. In the
// database, each part is a row with a version.
//
// [Durable] makes decisions on the cached states. Its committer writes the resulting steps to the
// database, and its presence writes and reads the processes' heartbeats.
//
// # Writing states
//
// [Durable] writes states with optimistic concurrency and group commit:
//
//  1. Lock the session and its shared parts. If a row was dropped because an earlier op failed
//     (see below), read it again.
//  2. Make the decision, and apply its changes to the state in memory.
//  3. Encode the changed parts as a backend.Op, which contains the version of each part that
//     the decision changed or depends on. Raise the versions of the changed parts in memory.
//  4. Append the op to the queue and unlock. The queue keeps the order of the decisions.
//  5. The first goroutine that waits for its step acquires the commit lock and commits a batch
//     of the queue in one transaction. The database checks all versions (compare-and-swap).
//  6. If an op needs a flush to disk, flush after releasing the commit lock, so that the next
//     batch can be committed concurrently. The step ends after the flush.
//
// If an op fails, the rows that it changed or depended on are dropped from memory, and every later
// step that used one of them fails too. The next decision reads those rows again. If the outcome of
// a commit is unknown, this process's records in the database show which steps were committed. If
// they show that a call was admitted although its caller was told otherwise, the outcome of the
// call is recorded as a failure.
//
// # Locks
//
// Lock order of Durable: the policy (policyMu), the session, the principal's part, the global part,
// the queue. A goroutine never waits for the commit lock or for a commit while it holds the lock of
// a session or part. The cache lock may be acquired while holding a session lock; the reverse order
// is allowed only with TryLock.
//
// Lock order of Memory: the ledger, the session, the principal's part, the global part. If writing
// records fails, the recorder's Flush locks sessions to undo their steps, so it must not be called
// while holding a session lock.
//
// The package starts goroutines only in [LateBackend], one for each attempt to open its database.
// [Watcher.Run] and [Retention.Run] run in the caller's goroutines.
package store
