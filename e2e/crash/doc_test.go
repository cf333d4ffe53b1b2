// Package crash kills proxies that share a database, and compares the calls that reached their upstreams
// with the policy and the records.
package crash
