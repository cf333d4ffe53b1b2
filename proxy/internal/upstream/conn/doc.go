// Package conn has what the connections to MCP servers share, whatever their transport:
// requests under way and their replies, what servers ask of clients, errors, and what a
// connection knows of its upstream. It opens no connection itself.
package conn
