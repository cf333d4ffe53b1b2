// Package session has the clients that are connected: what each says of itself, its
// requests that have no answer yet, what it is told and has subscribed to, what it is
// asked; and the sessions whose calls share the state of the nets.
//
// A Client is one conversation: a stdio connection, a session over HTTP of revisions up
// to 2025-11-25, or one stateless request of 2026-07-28.
package session

import (
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/serve/admission"
)

// A Session identifies the state of the nets that its calls share. It belongs to one
// client, or to all clients of a principal whose requests carry no session.
type Session struct {
	ID        string
	Principal string
	By        string // connection or principal
	Since     time.Time
	Ended     atomic.Bool // no call begins in the session any more
	Narrowed  atomic.Bool // a client was shown only the tools that the session's nets let pass
}

// Key returns the key under which the admission keeps the session's state.
func (s *Session) Key() admission.Key { return admission.Key{Session: s.ID, Principal: s.Principal} }
