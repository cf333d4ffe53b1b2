package daemon

import (
	"time"

	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
)

// effort returns how much effort to spend at startup on proving the given number of claims.
func effort(claims int) check.Effort {
	e := check.AtStart(claims)
	e.Now, e.Narrower = time.Now, policydiff.Narrower
	return e
}
