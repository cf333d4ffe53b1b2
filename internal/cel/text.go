package cel

import (
	"errors"
	"strings"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// stringFunctions returns string functions that CEL's standard library lacks. Each has a single
// overload, so the types of its operands are known. None of them returns a string longer than
// maxArgs.
func stringFunctions() []cel.EnvOption {
	str, list := cel.StringType, cel.ListType(cel.StringType)
	one := func(name string, f func(string) string) cel.EnvOption {
		return cel.Function(name, cel.MemberOverload(name+"_string", []*cel.Type{str}, str, cel.UnaryBinding(func(v ref.Val) ref.Val {
			return types.String(f(string(v.(types.String))))
		})))
	}
	return []cel.EnvOption{
		one("lowerAscii", func(s string) string { return mapASCII(s, unicode.ToLower) }),
		one("upperAscii", func(s string) string { return mapASCII(s, unicode.ToUpper) }),
		one("trim", strings.TrimSpace),
		cel.Function("split", cel.MemberOverload("split_string_string", []*cel.Type{str, str}, list, cel.BinaryBinding(split))),
		cel.Function("join", cel.MemberOverload("join_list_string", []*cel.Type{list, str}, str, cel.BinaryBinding(join))),
		cel.Function("replace", cel.MemberOverload("replace_string_string_string", []*cel.Type{str, str, str}, str, cel.FunctionBinding(replace))),
	}
}

func mapASCII(s string, f func(rune) rune) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return f(r)
		}
		return r
	}, s)
}

func split(s, separator ref.Val) ref.Val {
	text, sep := string(s.(types.String)), string(separator.(types.String))
	if strings.Count(text, sep) >= maxValues {
		return failure("the text has too many parts")
	}
	return types.NewStringList(types.DefaultTypeAdapter, strings.Split(text, sep))
}

func join(list, separator ref.Val) ref.Val {
	var parts []string
	sep, length := string(separator.(types.String)), 0
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		part, ok := it.Next().(types.String)
		if !ok {
			return failure("join expects a list of texts")
		}
		if length += len(part) + len(sep); length > maxArgs {
			return failure("the text is too long")
		}
		parts = append(parts, string(part))
	}
	return types.String(strings.Join(parts, sep))
}

func replace(args ...ref.Val) ref.Val {
	text, old, with := string(args[0].(types.String)), string(args[1].(types.String)), string(args[2].(types.String))
	if len(text)+strings.Count(text, old)*len(with) > maxArgs {
		return failure("the text is too long")
	}
	return types.String(strings.ReplaceAll(text, old, with))
}

func failure(msg string) ref.Val { return types.WrapErr(errors.New(msg)) }
