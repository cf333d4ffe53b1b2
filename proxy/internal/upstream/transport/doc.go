// Package transport makes HTTP requests over connections of its own, with less work per
// request than net/http, for what MCP clients send. What it does not take goes to net/http.
package transport
