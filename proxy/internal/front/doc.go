// Package front takes the bytes of clients in and gives theirs out: over stdio,
// streamable HTTP, and HTTP+SSE (2024-11-05).
package front
