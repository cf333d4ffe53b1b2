// Package model contains only tests: an abstract model of package journal's protocol, which they
// explore exhaustively. See PROTOCOL.md in that package.
package model
