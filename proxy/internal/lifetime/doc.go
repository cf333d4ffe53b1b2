// Package lifetime has the time for which a proxy runs: its context, its clock and its
// log, and the goroutines that it runs beside requests.
package lifetime
