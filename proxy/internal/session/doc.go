// Package session has the clients that are connected: what each says of itself, its
// requests that have no answer yet, what it is told and has subscribed to, what it is
// asked; and the sessions whose calls share the state of the nets.
//
// A Client is one conversation: a stdio connection, a session over HTTP of revisions up
// to 2025-11-25, or one stateless request of 2026-07-28.
package session
