package cel

import (
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
)

// The limits of one expression. A person's expressions are far below them.
const (
	maxSource  = 8 << 10   // characters
	maxNodes   = 2_000     // after macros are expanded
	maxNesting = 3         // comprehensions inside comprehensions
	maxCost    = 1_000_000 // of one evaluation, in the units of CEL; see BenchmarkWorst
	maxRegex   = 1_000     // instructions of a pattern
)

// A Compiler checks expressions. What it needs for that is made when the first
// one comes, since it takes milliseconds. It is safe for concurrent use.
type Compiler struct {
	call   environment // of a map
	net    environment // of a net
	memory environment // of what a net remembers
	result environment // of a condition on results
}

// An environment returns what expressions of one kind may name.
type environment func() (*cel.Env, error)

// NewCompiler returns a compiler.
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

// object is the type of a JSON object. Read-only.
var object = cel.MapType(cel.StringType, cel.DynType)

// newEnv is what all expressions share.
func newEnv() (*cel.Env, error) {
	subset := env.NewLibrarySubset()
	for _, name := range temporal {
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
	options = append(options, texts()...)
	return cel.NewCustomEnv(append(options, paths()...)...)
}

// temporal are the functions about time. Those with a time zone would read the
// environment and the disk, and without a clock none has a use. Read-only.
var temporal = []string{
	"timestamp", "duration", "getFullYear", "getMonth", "getDayOfYear", "getDate", "getDayOfMonth",
	"getDayOfWeek", "getHours", "getMinutes", "getSeconds", "getMilliseconds",
}
