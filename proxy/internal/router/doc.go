// Package router hands each message to the room that serves it. The file client.go has
// every method that a client may send, and server.go every notification and request that
// a server may send.
package router
