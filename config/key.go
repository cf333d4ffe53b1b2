package config

import (
	"fmt"
	"strings"
)

// A KeyField is a component of a net's key. Its value is read from each call. For each combination
// of these values, the net has a separate marking.
type KeyField struct {
	Path       string // name of an argument, or a path that begins with "$."; empty if Expression is set
	Result     bool   // whether to read the value from the call's result instead of its arguments
	Expression Expression
	Position   Position

	origin
}

// String returns the field as shown in messages.
func (f KeyField) String() string {
	switch {
	case f.Expression.Text != "":
		return fmt.Sprintf("%q", f.Expression.Text)
	case f.Result:
		return resultPrefix + f.Path
	}
	return f.Path
}

// maxApprovals is the maximum number of approvals that a call can require.
const maxApprovals = 100

// resultPrefix is the prefix of a path for reading a value from a call's result instead of its
// arguments.
const resultPrefix = "result."

// readKey reads a list of fields and reports duplicates.
func readKey(v Value) ([]KeyField, bool) {
	key, ok := nonEmpty(listOf(readKeyField))(v)
	seen := make(map[string]Position, len(key))
	for _, f := range key {
		name := f.String()
		if first, twice := seen[name]; twice && name != "" {
			v.faultAt(f.node, fmt.Sprintf("the field %s is named twice", name), firstAt(first))
		}
		seen[name] = f.Position
	}
	return key, ok
}

func readKeyField(v Value) (KeyField, bool) {
	v = v.named(v.label())
	f := KeyField{Position: v.Position(), origin: origin{v.source, v.node}}
	if v.kind == mapKind {
		v.Fields(Keys{"expression": into(&f.Expression, readExpression)})
		v.needs("expression")
		return f, true
	}
	text, ok := v.Text()
	if path, found := strings.CutPrefix(text, resultPrefix); found {
		text, f.Result = path, true
	}
	if f.Path = text; ok {
		f.check(v)
	}
	return f, ok
}

// check rejects a string that is neither the name of an argument nor a path. Package gate checks
// that a path is well-formed.
func (f *KeyField) check(v Value) {
	head, rest, dotted := strings.Cut(f.Path, ".")
	switch {
	case strings.HasPrefix(f.Path, "$.") || strings.HasPrefix(f.Path, "$["):
	case f.Result:
		v.Fault(fmt.Sprintf("expected a path into the result, not %q", f.Path), "write result.$."+f.Path)
	case dotted && (head == "args" || head == "arguments"):
		v.Fault(fmt.Sprintf("%q is not a field: a field is part of the arguments", f.Path), "write $."+rest+`; or use { expression: "`+f.Path+`" }`)
	case strings.HasPrefix(f.Path, "$"):
		v.Fault(fmt.Sprintf("invalid path %q", f.Path), "write $."+strings.TrimPrefix(f.Path, "$"))
	case strings.ContainsAny(f.Path, "*?("):
		v.Fault(fmt.Sprintf("invalid field %q", f.Path), `a field is a key, a path such as $.file.path, or { expression: "args.channel.lowerAscii()" }`)
	}
}
