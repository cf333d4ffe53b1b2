// Package httpsse speaks MCP over HTTP+SSE, the transport of revision 2024-11-05.
package httpsse
