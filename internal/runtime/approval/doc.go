// Package approval manages requests for human approval of calls, and their answers.
//
// A [Request] concerns exactly one call, see [Key], and shows all of it. Calls with the same key
// share a request. A [Broker] accepts one answer per request, the first. An approval admits one
// call, once, before it expires; the broker uses it under its lock. The package does not ask people
// itself: the channels (terminal, console, webhook, client) read the requests and report answers.
//
// With a [Store], requests survive the process and are shared by the brokers of several processes.
// New requests and answers are written with compare-and-swap (optimistic concurrency) before they
// take effect, and [Broker.Refresh] reads the changes of other brokers. The store has the complete
// request, including arguments, because a person who answers at another process must see exactly
// what will run. The store marks an approval as used in the same transaction as the decision; see
// [Broker.Used].
//
// A [Grant] approves later requests when they are opened, if they are similar to one that a person
// has approved. The store keeps grants among the requests, with IDs of their own.
//
// Locks: Broker.reading serializes the parsing of large calls, Broker.mu guards the table of
// requests and accounts (Broker.requests), Grants.mu the grants. A broker may lock Grants.mu while
// it holds Broker.mu, never the reverse. No lock is held during calls of the store. The package
// starts no goroutines.
package approval
