// Package spec has the words of the MCP specification that several rooms of the proxy
// use: methods, notifications, error codes, and the members of some messages.
package spec
