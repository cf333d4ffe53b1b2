package cel

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/petrigate/petrigate/gate"
)

// An Input is one firing as the variables of a net's expressions. What it is
// made of is converted once for all of them. It is for one goroutine.
type Input struct {
	call    *callData
	firing  gate.Firing
	result  *piece // converted when an expression names it
	marking map[string]int64
}

// NewInput returns the input of a firing.
func NewInput(f gate.Firing) *Input {
	return &Input{call: newCallData(&f.Call), firing: f}
}

// Named is the same firing under another name of the call.
func (in *Input) Named(name string) *Input {
	named := *in
	named.firing.Name = name
	return &named
}

// variable is one that a net's expression may name.
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
				converted := convertedFrom("contents of the result", in.firing.Result)
				in.result = &converted
			}
		}
		return in.result.value, in.result.err
	}
	return in.call.variable(name, want)
}

// A Condition is an expression over a firing that is true or false.
type Condition struct{ program *program }

// Condition compiles the requirement of a validator. The names may be nil; the
// error is a [diag.List].
func (c *Compiler) Condition(src string, names *Names) (*Condition, error) {
	p, err := c.net.compile(src, names, cel.BoolType)
	return &Condition{p}, err
}

// Holds reports whether the condition is true. An error says that it cannot be
// told, and is to be taken for no.
func (c *Condition) Holds(in *Input) (bool, error) {
	v, err := c.program.eval(in.variable)
	if err != nil {
		return false, err
	}
	holds, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression yields %s, not true or false", article(cel.ObjectType(v.Type().TypeName())))
	}
	return bool(holds), nil
}

// Uses reports whether the condition names a variable.
func (c *Condition) Uses(variable string) bool {
	_, ok := c.program.uses[variable]
	return ok
}

// A Value is an expression over a firing that yields data.
type Value struct{ program *program }

// Value compiles what a net remembers. It may name the result of the call, which is null
// where there is none. The names may be nil; the error is a [diag.List].
func (c *Compiler) Value(src string, names *Names) (*Value, error) {
	p, err := c.memory.compile(src, names, nil)
	return &Value{p}, err
}

// Uses reports whether the value names a variable.
func (v *Value) Uses(variable string) bool {
	_, ok := v.program.uses[variable]
	return ok
}

// Of is the data: nil, bool, int64, uint64, float64, string, []any and
// map[string]any, and nothing that could not be written as JSON. It shares no
// memory with the input.
func (v *Value) Of(in *Input) (any, error) {
	out, err := v.program.eval(in.variable)
	if err != nil {
		return nil, err
	}
	return (&exporter{}).value(out, 0)
}
