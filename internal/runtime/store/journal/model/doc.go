// Package model contains only tests, which exhaustively explore an abstract model of package
// journal's protocol. See PROTOCOL.md in that package.
package model
