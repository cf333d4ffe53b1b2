// Package stdio speaks MCP with a child process over its standard input and output.
package stdio
