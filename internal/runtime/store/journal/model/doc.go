// Package model has only tests: an abstract model of the protocol of package journal, which is
// explored exhaustively. See PROTOCOL.md of that package.
package model
