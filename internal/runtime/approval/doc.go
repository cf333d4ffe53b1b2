// Package approval keeps the requests for approval that are put to people before
// calls are made, and what people answered.
//
// A [Request] is about exactly one call, see [Key], and shows all of it. Calls with
// the same key share it. A [Broker] takes one answer for each request, the first. A
// consent lets one call pass, once, before it expires: the broker uses it up under
// its lock. This package asks nobody: it tells those who can ask where a request
// stands.
//
// With a [Store] the requests outlive the process, and brokers of several processes have
// them in common: what a broker opens, and what a person answers, is written by
// compare-and-swap before it counts, and [Broker.Refresh] takes over what others wrote.
// The store has the request whole, arguments included: who answers at another process
// has to see exactly what will run. It uses a consent up with the decision, in one
// transaction; see [Broker.Used].
//
// A [Grant] approves requests as they are opened, which are like one that a person has
// approved. The store has grants among the requests, under ids of their own.
package approval
