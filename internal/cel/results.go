package cel

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/petrigate/petrigate/gate"
)

// A Results contains conditions on the results of calls. It is the [gate.Judge] for success
// statements. All conditions must be added before the first result is judged. From then on, a
// Results is safe for concurrent use.
type Results struct {
	compiler *Compiler
	programs []*program
}

// NewResults returns a Results without conditions.
func NewResults() *Results { return &Results{compiler: NewCompiler()} }

// Condition adds a condition on the variables "result" and "text", and returns its number. If the
// call returned no data, a condition that reads "result" is false. Any error is a [diag.List].
func (r *Results) Condition(src string) (number int, err error) {
	p, err := r.compiler.result.compile(src, nil, cel.BoolType)
	if err != nil {
		return 0, err
	}
	if _, args := p.uses["args"]; args {
		return 0, whole("the call's arguments are not available where its result is judged", "use result and text")
	}
	r.programs = append(r.programs, p)
	return len(r.programs) - 1, nil
}

// Untyped reports whether the type of the condition is unknown until evaluation, as in the
// condition "result.ok". If such a condition evaluates to anything but true, the call has failed.
func (r *Results) Untyped(number int) bool { return r.programs[number].out.IsExactType(cel.DynType) }

// Holds reports whether the condition is true. It returns false if the condition cannot be
// evaluated.
func (r *Results) Holds(c *gate.Call, value []byte, content string, number int) bool {
	v, err := r.programs[number].eval(func(name string, _ lookup) (any, error) {
		switch name {
		case "tool":
			return c.Tool, nil
		case "text":
			return content, nil
		case "result":
			if value == nil {
				return nil, &Unreadable{"the call returned no data"}
			}
			p := convertFrom("contents of the result", value)
			return p.value, p.err
		}
		return nil, nil // the variable belongs to a comprehension, and CEL ignores the value returned here
	})
	return err == nil && v == types.True
}
