package cel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/petrigate/petrigate/gate"
)

// A Reader finds the calls for which expressions hold. It is the
// [gate.Reader] of maps without a field, and reads each call once.
//
// All expressions are to be added before the first call is read; after that it
// is safe for concurrent use.
type Reader struct {
	compiler *Compiler
	numbers  map[string]int // of conditions
	values   map[string]int // of keys
	programs []*program
}

// NewReader returns a reader with a compiler of its own.
func NewReader() *Reader { return NewCompiler().NewReader() }

// NewReader returns a reader whose expressions the compiler checks.
func (c *Compiler) NewReader() *Reader {
	return &Reader{compiler: c, numbers: make(map[string]int), values: make(map[string]int)}
}

// Expr adds an expression over a call that is true or false. The pattern is
// its number, for [gate.Map.Pattern]; equal texts have one. The error is a
// [diag.List].
func (r *Reader) Expr(src string) (pattern int, err error) {
	if n, ok := r.numbers[src]; ok {
		return n, nil
	}
	p, err := r.compiler.call.compile(src, nil, cel.BoolType)
	if err != nil {
		return 0, err
	}
	r.numbers[src] = len(r.programs)
	r.programs = append(r.programs, p)
	return len(r.programs) - 1, nil
}

// ValueExpr adds an expression whose value is a key: a string, a number, true or false,
// or a list of those. Its number is for [gate.Field]; equal texts have one. The error
// is a [diag.List].
func (r *Reader) ValueExpr(src string) (number int, err error) {
	if n, ok := r.values[src]; ok {
		return n, nil
	}
	p, err := r.compiler.call.compile(src, nil, nil)
	if err != nil {
		return 0, err
	}
	if out := p.out; !isKeyType(out) {
		return 0, whole(fmt.Sprintf("the expression yields %s, not a text, a number, true or false", article(out)), "")
	}
	r.values[src] = len(r.programs)
	r.programs = append(r.programs, p)
	return len(r.programs) - 1, nil
}

// isKeyType reports whether values of a type can be those of a key. What a field of
// the arguments is, is known only when it comes.
func isKeyType(t *cel.Type) bool {
	switch t.Kind() {
	case types.DynKind, types.StringKind, types.IntKind, types.UintKind, types.DoubleKind, types.BoolKind:
		return true
	case types.ListKind:
		return t.Parameters()[0].Kind() != types.ListKind && isKeyType(t.Parameters()[0])
	}
	return false
}

// Value evaluates the expression with that number, as [gate.ValueReader] wants it.
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

// isKey reports whether a value is one of a key, or a list of such.
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

// marshal writes a value as JSON, with strings as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Arguments are the members of args at which an expression looks; nil: it looks
// at none, or at the whole.
func (r *Reader) Arguments(pattern int) []string { return r.programs[pattern].uses["args"] }

// Read understands a call; the text is not looked at.
func (r *Reader) Read(c *gate.Call, _ string) gate.Reading {
	return &reading{reader: r, call: newCallData(c), found: make([]answer, len(r.programs))}
}

// reading answers for the expressions of one reader over one call.
type reading struct {
	reader *Reader
	call   *callData
	found  []answer // by pattern
}

// answer is what an expression says, once it was asked.
type answer struct {
	asked bool
	found gate.Found
}

// Finds says whether the expression holds. What cannot be told, because
// something is missing, of another type or too large, is [gate.Perhaps].
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

// Only reports whether one of the expressions holds, without an error: they are about
// the call as a whole, of which nothing is left. An expression whose value depends on a
// doubtful field is an error.
func (r *reading) Only(patterns []int) bool { return slices.ContainsFunc(patterns, r.Evidence) }

// Doubt says nothing: an expression without a value has its own message.
func (r *reading) Doubt(int) gate.Doubt { return gate.Doubt{} }

// Evidence reports whether the expression holds.
func (r *reading) Evidence(pattern int) bool { return r.Finds(pattern) == gate.Surely }

// callData is a call as the variables of an expression, converted when an
// expression asks for it, and once.
type callData struct {
	call        *gate.Call
	args        document
	annotations document
}

func newCallData(c *gate.Call) *callData {
	return &callData{call: c, args: document{doc: c.Args}, annotations: document{doc: c.Annotations}}
}

// variable is one that a map's expression may name, with what it wants of it.
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
	return nil, nil // a variable of a comprehension, which nobody asks for
}
