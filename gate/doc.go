// Package gate decides whether a call of a tool may run.
package gate
