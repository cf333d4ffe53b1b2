package splice

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// named returns the object that represents an entry in a file. If the entry is an element of a
// list, the object also contains the entry's name.
func (o Object) named(at Place, name string) Object {
	if at.Named == "" {
		return o
	}
	return append(Object{{at.Named, name}}, o...)
}

// YAML encodes the object in YAML's block style. Each member starts on a new line.
func (o Object) YAML(newline string) string { return o.asYAML(newline, "") }

// Plain converts an [Object], or a value in an Object, to the types that the decoder of a file
// returns.
func Plain(v any) any {
	switch v := v.(type) {
	case Object:
		fields := make(map[string]any, len(v))
		for _, m := range v {
			fields[m.Key] = Plain(m.Value)
		}
		return fields
	case []Object:
		return append([]any{}, list.Map(v, func(o Object) any { return Plain(o) })...)
	case []string:
		return append([]any{}, list.Map(v, func(s string) any { return s })...)
	case int:
		return json.Number(fmt.Sprint(v))
	}
	return v
}

// quote encodes a string in double quotes. The result is valid in JSON, TOML and YAML.
func quote(s string) string {
	return strings.NewReplacer("\x7f", `\u007f`, "\u0085", `\u0085`, byteOrderMark, `\ufeff`).Replace(string(text.QuoteJSON(s)))
}

// scalar encodes a value other than an object. The result is valid in JSON, TOML and YAML.
func scalar(v any) string {
	switch v := v.(type) {
	case []string:
		return "[" + strings.Join(list.Map(v, quote), ", ") + "]"
	case string:
		return quote(v)
	}
	return fmt.Sprint(v)
}

// A style describes the formatting of a file.
type style struct {
	newline string
	unit    string // indentation for one level
	compact bool   // whether everything is on one line
}

// asJSON encodes an object with the given style and indentation.
func (o Object) asJSON(s style, indent string) string {
	if len(o) == 0 {
		return "{}"
	}
	inner, separator, end := s.newline+indent+s.unit, ",", s.newline+indent
	if s.compact {
		inner, separator, end = "", ", ", ""
	}
	parts := list.Map(o, func(m Member) string { return inner + quote(m.Key) + ": " + jsonValue(m.Value, s, indent+s.unit) })
	return "{" + strings.Join(parts, separator) + end + "}"
}

func jsonValue(v any, s style, indent string) string {
	switch v := v.(type) {
	case Object:
		return v.asJSON(s, indent)
	case []Object:
		return "[" + strings.Join(list.Map(v, func(o Object) string { return o.asJSON(s, indent) }), ", ") + "]"
	}
	return scalar(v)
}

var (
	bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	// plainKey matches keys that YAML reads as strings without quotes.
	plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

func tomlKey(key string) string {
	if bareKey.MatchString(key) {
		return key
	}
	return quote(key)
}

// asTOML encodes an object as a table with a header.
func (o Object) asTOML(path []string, newline string) string {
	lines := "[" + strings.Join(list.Map(path, tomlKey), ".") + "]" + newline
	for _, m := range o {
		lines += tomlKey(m.Key) + " = " + tomlValue(m.Value) + newline
	}
	return lines
}

func tomlValue(v any) string {
	o, ok := v.(Object)
	if !ok {
		return scalar(v)
	}
	parts := list.Map(o, func(m Member) string { return tomlKey(m.Key) + " = " + tomlValue(m.Value) })
	return "{ " + strings.Join(parts, ", ") + " }"
}

func yamlKey(key string) string {
	words := []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
	if plainKey.MatchString(key) && !slices.Contains(words, strings.ToLower(key)) {
		return key
	}
	return quote(key)
}

// asYAML encodes each member of an object on its own indented lines.
func (o Object) asYAML(newline, indent string) string {
	var b strings.Builder
	for _, m := range o {
		b.WriteString(indent + yamlKey(m.Key) + ":")
		switch o, ok := m.Value.(Object); {
		case !ok:
			b.WriteString(" " + scalar(m.Value) + newline)
		case len(o) == 0:
			b.WriteString(" {}" + newline)
		default:
			b.WriteString(newline + o.asYAML(newline, indent+"  "))
		}
	}
	return b.String()
}

// An Object is an ordered mapping. Its values are strings, numbers, booleans, lists of strings, or
// Objects.
type Object []Member

// A Member is a key of an [Object] and its value.
type Member struct {
	Key   string
	Value any
}
