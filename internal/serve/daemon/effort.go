package daemon

import (
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
)

// effort is that of a policy with so many claims at the start.
func effort(claims int) check.Effort {
	e := check.AtStart(claims)
	e.Narrower = policydiff.Narrower
	return e
}
