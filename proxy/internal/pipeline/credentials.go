package pipeline

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// unauthorized answers a call that was not made for want of credentials; nil:
// err says something else.
func (t *Call) unauthorized(err error) answer {
	var u *upstream.Unauthorized
	if !errors.As(err, &u) {
		return nil
	}
	return PlainRefusal("unauthorized", fmt.Sprintf("%s was not called: %s.", t.Tool.Exposed, text.Escape(u.Error())))
}
