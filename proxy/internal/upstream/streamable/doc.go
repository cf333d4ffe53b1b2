// Package streamable speaks MCP over streamable HTTP.
package streamable
