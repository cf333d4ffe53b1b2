package cel

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/petrigate/petrigate/gate"
)

// An Input provides the variables of a net's expressions when a transition fires. It converts data
// once for all expressions. An Input is not safe for concurrent use.
type Input struct {
	call    *callData
	firing  gate.Firing
	result  *piece // converted result of the call; nil until an expression reads it
	marking map[string]int64
}

// NewInput returns the input for the firing f.
func NewInput(f gate.Firing) *Input {
	return &Input{call: newCallData(&f.Call), firing: f}
}

// Named returns an input for the same firing, but with the given name for the tool.
func (in *Input) Named(name string) *Input {
	named := *in
	named.firing.Name = name
	return &named
}

func (in *Input) variable(name string, want lookup) (any, error) {
	switch name {
	case "tool":
		return in.firing.Name, nil
	case "meta":
		return map[string]any(in.firing.Meta), nil
	case "marking":
		if in.marking == nil {
			in.marking = make(map[string]int64, len(in.firing.Marking))
			for _, t := range in.firing.Marking {
				in.marking[t.Place] = int64(t.Count)
			}
		}
		return in.marking, nil
	case "result":
		if in.result == nil {
			in.result = &piece{}
			if in.firing.Result != nil {
				converted := convertFrom("contents of the result", in.firing.Result)
				in.result = &converted
			}
		}
		return in.result.value, in.result.err
	}
	return in.call.variable(name, want)
}

// A Condition is a boolean expression about the firing of a transition.
type Condition struct{ *program }

// Condition compiles the requirement of a validator. The argument names restricts the keys of
// marking and meta that the expression can use; nil means no restriction. Any error is a
// [diag.List].
func (c *Compiler) Condition(src string, names *Names) (*Condition, error) {
	p, err := c.net.compile(src, names, cel.BoolType)
	return &Condition{p}, err
}

// Holds reports whether the condition is true. If the condition cannot be evaluated, Holds returns
// false and an error.
func (c *Condition) Holds(in *Input) (bool, error) {
	v, err := c.eval(in.variable)
	if err != nil {
		return false, err
	}
	holds, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression yields %s, not true or false", article(cel.ObjectType(v.Type().TypeName())))
	}
	return bool(holds), nil
}

// A Value is an expression that computes data from the firing of a transition.
type Value struct{ *program }

// Value compiles the expression for a value that a net remembers. The expression can use the result
// of the call, which is null if the call returned no data. The argument names restricts the keys of
// marking and meta that the expression can use; nil means no restriction. Any error is a
// [diag.List].
func (c *Compiler) Value(src string, names *Names) (*Value, error) {
	p, err := c.memory.compile(src, names, nil)
	return &Value{p}, err
}

// Of evaluates the expression. The result consists of values of the types nil, bool, int64, uint64,
// float64, string, []any and map[string]any, and can always be encoded as JSON. It shares no memory
// with the input.
func (v *Value) Of(in *Input) (any, error) {
	out, err := v.eval(in.variable)
	if err != nil {
		return nil, err
	}
	return (&exporter{}).value(out, 0)
}
