// Package approval manages requests for human approval of calls, and the answers to them.
//
// A [Request] concerns exactly one call (see [Key]), and shows the call completely. Calls with the
// same key share a request. A [Broker] accepts only the first answer to a request. An approval
// admits one call, once, before it expires; the broker marks it as used while it holds its lock.
// The package does not ask people itself: the channels (terminal, console, webhook, client) read
// the requests and report answers.
//
// With a [Store], requests survive the process and are shared by the brokers of several processes.
// New requests and answers are written with compare-and-swap (optimistic concurrency) before they
// take effect, and [Broker.Refresh] reads other brokers' changes. The store has the complete
// request, including its arguments, because a person who answers at another process must see
// exactly what will run. The store marks an approval as used in the same transaction as the
// decision; see [Broker.Used].
//
// A [Grant] approves later requests when they are opened if they are similar to a request that a
// person has approved. The store keeps grants among the requests, with their own IDs.
//
// Locks: Broker.reading serializes the parsing of large calls, Broker.mu guards the table of
// requests and accounts (Broker.requests), and Grants.mu guards the grants. A broker may lock
// Grants.mu while it holds Broker.mu, never the reverse. No lock is held during store calls. The
// package starts no goroutines.
package approval
