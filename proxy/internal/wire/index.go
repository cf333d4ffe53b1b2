package wire

import "github.com/petrigate/petrigate/internal/rawjson"

// An index contains the positions of the members of params that make up a call, so that params are
// scanned only once.
type index struct {
	fields [6]field
	n      int
	end    int // end of the last member, or of the opening brace if the object is empty; 0 without an index
}

// A field is the position of one member. Its value is at [at:end]. The offset from is the end of
// the previous member or of the opening brace.
type field struct {
	name          fieldName
	from, at, end int
}

type fieldName uint8

const (
	fieldTool fieldName = iota + 1
	fieldArguments
	fieldMeta
	fieldTask
	fieldResponses
	fieldState
)

// fieldKeys contains the keys of the members.
var fieldKeys = [...]string{
	fieldTool: "name", fieldArguments: "arguments", fieldMeta: "_meta", fieldTask: "task",
	fieldResponses: "inputResponses", fieldState: "requestState",
}

// fieldOf returns the field with the given key, or 0.
func fieldOf(key []byte) fieldName {
	for name, k := range fieldKeys {
		if k == string(key) && name != 0 {
			return fieldName(name)
		}
	}
	return 0
}

// indexParams finds the members of params. It checks the rules that apply to all methods: params
// and its _meta must be objects, and no key may be a variant of a known key.
func indexParams(id, params []byte) (index, *Fault) {
	if params[0] != '{' {
		return index{}, invalidParams(id, "not an object")
	}
	x := index{end: 1}
	bad := ""
	rawjson.Members(params, func(key, value []byte, at int) bool {
		if name := fieldOf(key); name != 0 {
			x.fields[x.n] = field{name, x.end, at, at + len(value)}
			x.n++
			if name == fieldMeta {
				bad = checkMeta(value)
			}
		} else if k := variantOf(key, paramKeys); k != "" {
			bad = quoteVariant(key, k)
		}
		x.end = at + len(value)
		return bad == ""
	})
	if bad != "" {
		return index{}, invalidParams(id, bad)
	}
	return x, nil
}

// checkMeta explains why meta is not a valid _meta. It returns "" if meta is valid.
func checkMeta(meta []byte) (bad string) {
	if meta[0] != '{' {
		return `"_meta" must be an object`
	}
	rawjson.Members(meta, func(key, _ []byte, _ int) bool {
		if k := variantOf(key, metaKeys); k != "" {
			bad = "_meta: " + quoteVariant(key, k)
		}
		return bad == ""
	})
	return bad
}
