package toolnet

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/jsonpath"
)

// A Path selects values in call arguments. Examples are $.request.method, $.files[*].path,
// $.args[0] and $["odd key"].
type Path struct{ path jsonpath.Path }

// A PathError is a syntax error in a path.
type PathError struct {
	Offset int // byte offset of the error in the path
	Msg    string
}

// Error returns the offset and the message.
func (e *PathError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.Msg) }

// ParsePath parses a path. The error is a [*PathError].
func ParsePath(text string) (Path, error) {
	p, err := jsonpath.Parse(text)
	if err != nil {
		return Path{}, (*PathError)(err)
	}
	return Path{p}, nil
}

// Many reports whether the path can select more than one value.
func (p Path) Many() bool { return p.path.Many() }
