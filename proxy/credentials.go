package proxy

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Credentials say in whose name requests to an upstream over HTTP are made,
// where that changes with time.
type Credentials = upstream.Credentials

// unauthorized answers a call that was not made for want of credentials; nil:
// err says something else.
func (t *toolCall) unauthorized(err error) answer {
	var u *upstream.Unauthorized
	if !errors.As(err, &u) {
		return nil
	}
	return plainRefusal("unauthorized", fmt.Sprintf("%s was not called: %s.", t.tool.exposed, text.Escape(u.Error())))
}

// absence is the name of an upstream that is not there, with the reason where
// somebody can do something about it.
func (u *upstreamState) absence() string {
	var why *upstream.Unauthorized
	if errors.As(u.State().Err, &why) {
		return u.config.Name + " (" + text.Escape(why.Error()) + ")"
	}
	return u.config.Name
}
