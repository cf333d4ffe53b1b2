// Package crash kills proxies that share a database, and holds what has reached their
// upstreams against the policy and the records.
package crash
