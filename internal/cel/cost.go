package cel

import (
	"regexp"
	"regexp/syntax"

	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// A costTracker determines the actual cost of a function call from the sizes of its operands and
// result. By default, CEL ignores the sizes of operands whose types are unknown at compile time,
// such as the arguments of a tool call.
type costTracker struct{}

// CallCost returns 1 plus a tenth of the total length, in bytes, of all strings and byte sequences
// among the operands and the result. The operator "in" and the functions "split" and "join" cost 1
// more per element of the list. Matching a regular expression costs five times the usual amount.
// For == and !=, CallCost returns nil, so that CEL determines the cost.
func (costTracker) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	if function == operators.Equals || function == operators.NotEquals {
		return nil // CEL itself considers the sizes of the operands of == and !=
	}
	price := 1 + uint64(length(result))/10
	for _, a := range args {
		price += uint64(length(a)) / 10
	}
	switch function {
	case operators.In:
		price += uint64(elements(args[1]))
	case "split":
		price += uint64(elements(result))
	case "join":
		price += uint64(elements(args[0]))
	case "matches":
		price *= 5
	}
	return &price
}

// length returns the length in bytes of a string or bytes value, or 0 for any other value.
func length(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	}
	return 0
}

// elements returns the number of elements of a list. It returns 0 for a map, since searching a map
// takes constant time.
func elements(v ref.Val) int {
	list, ok := v.(traits.Lister)
	if !ok {
		return 0
	}
	n, _ := list.Size().(types.Int)
	return int(n)
}

// maxMatchCost is the maximum cost of matching a regular expression. The cost is the length of the
// text times the number of the expression's instructions. RE2 takes time proportional to this
// product.
const maxMatchCost = 64 << 20

// boundedMatch returns a replacement for a call to the CEL function "matches" with a literal
// pattern. The pattern is compiled in advance. Evaluating the replacement fails if matching would
// cost too much.
func boundedMatch(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	size := instructions(pattern)
	match := func(values ...ref.Val) ref.Val {
		text, ok := values[0].(types.String)
		switch {
		case !ok:
			return types.NoSuchOverloadErr()
		case len(text)*size > maxMatchCost:
			return failure("the text is too long for this pattern")
		}
		return types.Bool(re.MatchString(string(text)))
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), match), nil
}

// instructions returns the number of instructions in a compiled pattern, which must be valid.
func instructions(pattern string) int {
	tree, _ := syntax.Parse(pattern, syntax.Perl)
	prog, _ := syntax.Compile(tree.Simplify())
	return len(prog.Inst)
}
