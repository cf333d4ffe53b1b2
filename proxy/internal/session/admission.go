package session

import (
	"github.com/petrigate/petrigate/internal/serve/admission"
)

// Key names the session to the admission.
func (s *Session) Key() admission.Key { return admission.Key{Session: s.ID, Principal: s.Principal} }
