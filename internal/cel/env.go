package cel

import (
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
)

// Limits on an expression. Expressions written by people stay far below them.
const (
	maxSource  = 8 << 10   // maximum size of the source text in bytes
	maxNodes   = 2_000     // maximum number of nodes after macro expansion
	maxNesting = 3         // maximum nesting depth of comprehensions
	maxCost    = 1_000_000 // maximum cost of an evaluation, in CEL's units; see BenchmarkWorst
	maxRegex   = 1_000     // maximum number of instructions in a compiled regular expression
)

// A Compiler compiles expressions. It creates CEL environments on first use, since creating one
// takes milliseconds. A Compiler is safe for concurrent use.
type Compiler struct {
	call   environment // for expressions of map statements, keys and sums
	net    environment // for conditions in nets
	memory environment // for expressions whose values a net remembers
	result environment // for conditions on results
}

// An environment is a function that returns the variables and functions available to one kind of
// expression.
type environment func() (*cel.Env, error)

// NewCompiler returns a new compiler.
func NewCompiler() *Compiler {
	base := sync.OnceValues(newEnv)
	with := func(variables ...cel.EnvOption) environment {
		return sync.OnceValues(func() (*cel.Env, error) {
			e, err := base()
			if err != nil {
				return nil, err
			}
			return e.Extend(variables...)
		})
	}
	meta, marking := cel.Variable("meta", object), cel.Variable("marking", cel.MapType(cel.StringType, cel.IntType))
	return &Compiler{
		call:   with(cel.Variable("upstream", cel.StringType), cel.Variable("annotations", object)),
		net:    with(meta, marking),
		memory: with(meta, marking, cel.Variable("result", cel.DynType)),
		result: with(cel.Variable("text", cel.StringType), cel.Variable("result", cel.DynType)),
	}
}

// object is the CEL type of JSON objects. It must not be modified.
var object = cel.MapType(cel.StringType, cel.DynType)

// newEnv returns the environment shared by all kinds of expressions.
func newEnv() (*cel.Env, error) {
	subset := env.NewLibrarySubset()
	for _, name := range timeFunctions {
		subset.AddExcludedFunctions(env.NewFunction(name))
	}
	options := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(subset)),
		cel.OptionalTypes(),
		cel.CrossTypeNumericComparisons(true),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateComprehensionNestingLimit(maxNesting)),
		cel.ParserExpressionSizeLimit(maxSource),
		cel.ExpressionNodeLimit(maxNodes),
		cel.RegexProgramSizeLimit(maxRegex),
		cel.Variable("args", object),
		cel.Variable("tool", cel.StringType),
	}
	options = append(options, stringFunctions()...)
	return cel.NewCustomEnv(append(options, pathFunctions()...)...)
}

// timeFunctions lists the functions on timestamps and durations, which expressions must not use.
// Without a clock, these functions are useless. Some of them take the name of a time zone, and
// would read the environment and files to look it up. The list must not be modified.
var timeFunctions = []string{
	"timestamp", "duration", "getFullYear", "getMonth", "getDayOfYear", "getDate", "getDayOfMonth",
	"getDayOfWeek", "getHours", "getMinutes", "getSeconds", "getMilliseconds",
}
