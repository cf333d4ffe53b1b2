package daemon

import (
	"time"

	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
)

// effort returns the effort to prove the claims of a policy at the start.
func effort(claims int) check.Effort {
	e := check.AtStart(claims)
	e.Now, e.Narrower = time.Now, policydiff.Narrower
	return e
}
