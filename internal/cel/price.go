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

// prices are what calls cost. CEL knows them only where it knows the types
// before; what comes in arguments has none, and would cost nothing.
type prices struct{}

// CallCost is one, and a tenth for each byte of a text that goes in or out;
// for looking into a list one for each of its elements.
func (prices) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	if function == operators.Equals || function == operators.NotEquals {
		return nil // CEL knows what is in both
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

// length is that of a text in bytes.
func length(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	}
	return 0
}

// elements is the length of a list. A map is looked into at once.
func elements(v ref.Val) int {
	list, ok := v.(traits.Lister)
	if !ok {
		return 0
	}
	n, _ := list.Size().(types.Int)
	return int(n)
}

// maxMatching bounds what one match costs: the bytes of the text times the
// instructions of the pattern. RE2 takes no longer than in proportion to it.
const maxMatching = 64 << 20

// bounded runs "matches" with a pattern that is compiled once.
func bounded(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
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
		case len(text)*size > maxMatching:
			return failure("the text is too long for this pattern")
		}
		return types.Bool(re.MatchString(string(text)))
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), match), nil
}

// instructions is the size of a pattern when it is compiled.
func instructions(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return maxRegex
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return maxRegex
	}
	return len(prog.Inst)
}
