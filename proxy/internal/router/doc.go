// Package router hands each message to the room that serves it: dispatch.go has every
// method that a client may send, upstreams.go every notification and request that a
// server may send.
package router
