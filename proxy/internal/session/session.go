package session

import (
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/serve/admission"
)

// A Session is what calls share: the state of the nets. Several clients of
// one principal can have one.
type Session struct {
	ID        string
	Principal string
	By        string // connection or principal
	Since     time.Time
	Ended     atomic.Bool // nothing begins in it any more
	Narrowed  atomic.Bool // a client was shown just the tools that its nets let pass
}

// Key names the session to the admission.
func (s *Session) Key() admission.Key { return admission.Key{Session: s.ID, Principal: s.Principal} }
