// Package store implements [admission.Ledger]: it keeps the states of the nets and the records of
// decisions. It also stores what the processes of one database share: the kill switch, the
// heartbeat of each process, and the calls that wait for another round trip.
//
// There are two ledgers. [Memory] keeps the states in the memory of one process and sends its
// records to an audit.Recorder. [Durable] keeps them in a database, a backend.Backend, that other
// processes may use at the same time; the states used last are cached in memory.
//
// A state is divided into parts: the nets of one session (entry), the nets that the sessions of a
// principal share (part), and the nets that all sessions share (part). Each part is one row of the
// database with a version.
//
// [Durable] decides the steps on the cached states. Its committer commits them to the database, and
// its presence writes and reads the heartbeats of processes.
//
// # State write
//
// A write of [Durable] uses optimistic concurrency and group commit:
//
//  1. Lock the session and its shared parts. Read again every row that was dropped.
//  2. Run the decision on the state in memory and apply its delta there.
//  3. Encode the changed parts as a backend.Op. The op names the version of each part that
//     the decision read or changed, and it raises the versions of the changed parts in
//     memory.
//  4. Append the op to the queue and unlock. The order of the queue is the order of the
//     decisions.
//  5. The first goroutine that waits for its step takes the commit lock and commits a batch
//     of the queue in one transaction. The database checks all versions (compare-and-swap).
//  6. If an op needs a flush to disk, flush after the commit lock is released, so that the
//     next batch can be committed meanwhile. Only then does the step end.
//
// If an op fails, the rows that it changed or depended on are dropped, and every later step that
// used one of them fails too. The next decision reads those rows from the database again. If the
// outcome of a commit is unknown, the records of this process in the database show what was
// committed. A call that was committed although its caller was refused is settled as a failure.
//
// # Locks
//
// Lock order of Durable: the policy (policyMu), the session, the part of the principal, the global
// part, the queue. A goroutine never waits for the commit lock or for a commit while it holds the
// lock of a session or of a part. The lock of the cache may be taken under the lock of a session;
// the reverse order is allowed only with TryLock.
//
// Lock order of Memory: the ledger, the session, the part of the principal, the global part. The
// recorder undoes steps under the locks of their sessions, so its Flush must not be called with a
// session locked.
//
// The package starts one goroutine: each attempt of [Late] to open its database. [Watcher.Run] and
// [Retention.Run] run in goroutines of the caller.
package store
