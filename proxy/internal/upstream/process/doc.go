// Package process starts MCP servers as children of this process: their pipes, their
// environment, and their end with all that they have started.
package process
