// Package approval keeps the requests for approval that are put to people before
// calls are made, and what people answered.
//
// A [Request] is about exactly one call, see [Key], and shows all of it. Calls with
// the same key share it. A [Broker] takes one answer for each request, the first. A
// consent lets one call pass, once, before it expires: the broker uses it up under
// its lock. This package asks nobody: it tells those who can ask where a request
// stands.
package approval
