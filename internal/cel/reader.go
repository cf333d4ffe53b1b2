package cel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// maxExcerpt is the maximum length, in bytes, of an expression quoted in a message.
const maxExcerpt = 100

// A Reader evaluates expressions about calls. It implements [gate.Reader] for the conditions of map
// statements, and [gate.ValueReader] for keys and sums.
//
// All expressions must be added before the first call of Read or Value. From then on, a Reader is
// safe for concurrent use.
type Reader struct {
	compiler *Compiler
	numbers  map[string]int // numbers of the conditions, keyed by source text
	values   map[string]int // numbers of the key expressions, keyed by source text
	programs []*program
}

// NewReader returns a reader with its own compiler.
func NewReader() *Reader { return NewCompiler().NewReader() }

// NewReader returns a reader that compiles its expressions with c.
func (c *Compiler) NewReader() *Reader {
	return &Reader{compiler: c, numbers: make(map[string]int), values: make(map[string]int)}
}

// Expr adds a boolean expression about a call. It returns the number of the expression, for use as
// [gate.Map.Pattern]; equal source texts have equal numbers. Any error is a [diag.List].
func (r *Reader) Expr(src string) (pattern int, err error) {
	return r.add(src, r.numbers, cel.BoolType)
}

// ValueExpr adds an expression for a key, whose value must be a string, a number, a boolean, or a
// list of these. It returns the number of the expression, for use in a [gate.Field]; equal source
// texts have equal numbers. Any error is a [diag.List].
func (r *Reader) ValueExpr(src string) (number int, err error) {
	return r.add(src, r.values, nil)
}

// add compiles the expression src and returns its index in r.programs. An expression in the map
// known is not compiled again. If want is nil, the type of the expression must be suitable for a
// key.
func (r *Reader) add(src string, known map[string]int, want *cel.Type) (number int, err error) {
	if n, ok := known[src]; ok {
		return n, nil
	}
	p, err := r.compiler.call.compile(src, nil, want)
	if err != nil {
		return 0, err
	}
	if want == nil && !isKeyType(p.out) {
		return 0, whole(fmt.Sprintf("the expression yields %s, not a text, a number, true or false", article(p.out)), "")
	}
	known[src] = len(r.programs)
	r.programs = append(r.programs, p)
	return known[src], nil
}

// isKeyType reports whether a value of type t can be a key or a list of keys. It also returns true
// for a type that is unknown until evaluation, such as the type of an argument's field.
func isKeyType(t *cel.Type) bool {
	switch t.Kind() {
	case types.DynKind, types.StringKind, types.IntKind, types.UintKind, types.DoubleKind, types.BoolKind:
		return true
	case types.ListKind:
		return t.Parameters()[0].Kind() != types.ListKind && isKeyType(t.Parameters()[0])
	}
	return false
}

// Value evaluates the expression with the given number for the call c. The number comes from
// [Reader.ValueExpr]. Value implements [gate.ValueReader].
func (r *Reader) Value(c *gate.Call, number int) ([]byte, bool) {
	v, err := r.programs[number].eval(newCallData(c).variable)
	if err != nil {
		return nil, false
	}
	made, err := (&exporter{}).value(v, 0)
	if err != nil || !isKey(made) {
		return nil, false
	}
	doc, err := marshal(made)
	return doc, err == nil
}

// isKey reports whether v can be the value of a key or is a list of such values.
func isKey(v any) bool {
	switch v := v.(type) {
	case string, bool, int64, uint64, float64:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool {
			_, list := item.([]any)
			return list || !isKey(item)
		})
	}
	return false
}

// marshal encodes a value as JSON without escaping HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Arguments returns the members of args that an expression reads. It returns nil if the expression
// does not read args or reads all of it.
func (r *Reader) Arguments(pattern int) []string { return r.programs[pattern].uses["args"] }

// Read returns the results of the expressions for the call c. It ignores its second parameter, the
// text of a field, because an expression is about the whole call.
func (r *Reader) Read(c *gate.Call, _ string) gate.Reading {
	return &reading{reader: r, call: newCallData(c), found: make([]answer, len(r.programs))}
}

// A reading contains the results of a reader's expressions for one call.
type reading struct {
	reader *Reader
	call   *callData
	found  []answer // results, indexed by expression number
}

// An answer is the cached result of an expression.
type answer struct {
	asked bool
	found gate.Found
}

// Finds reports whether the expression is true. It returns [gate.Perhaps] if the evaluation fails,
// for example because a field is missing, too large, or of an unexpected type.
func (r *reading) Finds(pattern int) gate.Found {
	a := &r.found[pattern]
	if !a.asked {
		*a = answer{asked: true, found: r.find(pattern)}
	}
	return a.found
}

func (r *reading) find(pattern int) gate.Found {
	v, err := r.reader.programs[pattern].eval(r.call.variable)
	holds, isBool := v.(types.Bool)
	switch {
	case err != nil || !isBool:
		return gate.Perhaps
	case bool(holds):
		return gate.Surely
	default:
		return gate.NotFound
	}
}

// Only reports whether at least one of the given expressions is true. One true expression is
// enough, because every expression is about the whole call.
func (r *reading) Only(patterns []int) bool { return slices.ContainsFunc(patterns, r.Evidence) }

// Doubt explains why the expression could not be evaluated to true or false. After a successful
// evaluation, Doubt returns the zero [gate.Doubt].
func (r *reading) Doubt(pattern int) gate.Doubt {
	if r.Finds(pattern) != gate.Perhaps {
		return gate.Doubt{}
	}
	src := text.Excerpt(r.reader.programs[pattern].src, maxExcerpt)
	return gate.Doubt{What: "a value that its condition `" + src + "` needs is missing or cannot be used"}
}

// Evidence reports whether the expression is certainly true.
func (r *reading) Evidence(pattern int) bool { return r.Finds(pattern) == gate.Surely }

// A callData provides the variables of expressions about one call. Each variable is converted when
// it is first used.
type callData struct {
	call        *gate.Call
	args        document
	annotations document
}

func newCallData(c *gate.Call) *callData {
	return &callData{call: c, args: document{doc: c.Args}, annotations: document{doc: c.Annotations}}
}

// variable returns the value of the variable with the given name. If the value is an object, it
// contains at least the members that the expression reads.
func (d *callData) variable(name string, want lookup) (any, error) {
	switch name {
	case "args":
		return d.args.get(want)
	case "tool":
		return d.call.Tool, nil
	case "upstream":
		return d.call.Upstream, nil
	case "annotations":
		return d.annotations.get(want)
	}
	return nil, nil // the variable belongs to a comprehension, and CEL ignores the value returned here
}
