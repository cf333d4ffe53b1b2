// Package approval manages requests for human approval of calls, and the answers to them.
//
// A [Request] is about exactly one call (see [Key]) and shows the call completely. Calls with the
// same key share a request. A [Broker] accepts only the first answer to a request. An approval
// admits one call, once, before it expires; the broker marks it as used while holding its lock. The
// package does not ask people itself: the channels (terminal, console, webhook, client) read the
// requests and report the answers.
//
// With a [Store], requests survive restarts and are shared by the brokers of several processes. New
// requests and answers are written with compare-and-swap (optimistic concurrency) before they take
// effect, and [Broker.Refresh] reads the changes made by other brokers. The store has the complete
// request, including its arguments, because a person answering at another process must see exactly
// what will run. The store marks an approval as used in the same transaction that records the
// decision; see [Broker.Used].
//
// A [Grant] approves later requests when they are opened, if they are similar to a request that a
// person has approved. The store keeps grants in the same table as requests, under IDs of their
// own.
//
// Locks: Broker.reading serializes the parsing of large calls, Broker.mu guards the table of
// requests and accounts (Broker.requests), and Grants.mu guards the grants. A broker may lock
// Grants.mu while holding Broker.mu, never the reverse. No lock is held during store operations.
// The package starts no goroutines.
package approval
