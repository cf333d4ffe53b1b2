package pool

import (
	"errors"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Credentials say in whose name requests to an upstream over HTTP are made,
// where that changes with time.
type Credentials = upstream.Credentials

// absence is the name of an upstream that is not there, with the reason where
// somebody can do something about it.
func (u *Server) absence() string {
	var why *upstream.Unauthorized
	if errors.As(u.State().Err, &why) {
		return u.Config.Name + " (" + text.Escape(why.Error()) + ")"
	}
	return u.Config.Name
}
