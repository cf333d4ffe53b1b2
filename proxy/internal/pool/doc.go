// Package pool has the MCP servers behind the proxy: the connections that sessions
// share and those that are dedicated to one session, the tools of all servers, and the
// requests in flight to each.
package pool
