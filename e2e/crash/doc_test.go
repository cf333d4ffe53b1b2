// Package crash kills proxies that share a database, and compares what has reached their upstreams
// with the policy and the records.
package crash
