package splice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// named returns an object that can be inserted at the place. If the place contains a list, the
// result is o with the entry's name added.
func (o Object) named(at Place, name string) Object {
	if at.Named == "" {
		return o
	}
	return append(Object{{at.Named, name}}, o...)
}

// YAML encodes the object as YAML, with one or more lines for each member.
func (o Object) YAML(newline string) string { return o.asYAML(newline, "") }

// Plain converts an object to the form of stored decoded values.
func Plain(v any) any {
	switch v := v.(type) {
	case Object:
		fields := make(map[string]any, len(v))
		for _, m := range v {
			fields[m.Key] = Plain(m.Value)
		}
		return fields
	case []Object:
		items := make([]any, len(v))
		for i, o := range v {
			items[i] = Plain(o)
		}
		return items
	case []string:
		items := make([]any, len(v))
		for i, s := range v {
			items[i] = s
		}
		return items
	case int:
		return json.Number(fmt.Sprint(v))
	}
	return v
}

// quote encodes a string with double quotes, in a form that is valid in JSON, TOML and YAML.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // cannot fail for a string
	text := strings.TrimSuffix(b.String(), "\n")
	return strings.NewReplacer("\x7f", `\u007f`, "\u0085", `\u0085`, byteOrderMark, `\ufeff`).Replace(text)
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// A style describes how a file is formatted.
type style struct {
	newline string
	unit    string // indentation for one level
	compact bool   // whether everything is on one line
}

// asJSON encodes an object in the given style and with the given indentation.
func (o Object) asJSON(s style, indent string) string {
	if len(o) == 0 {
		return "{}"
	}
	inner, separator, end := s.newline+indent+s.unit, ",", s.newline+indent
	if s.compact {
		inner, separator, end = "", ", ", ""
	}
	parts := make([]string, len(o))
	for i, m := range o {
		parts[i] = inner + quote(m.Key) + ": " + jsonValue(m.Value, s, indent+s.unit)
	}
	return "{" + strings.Join(parts, separator) + end + "}"
}

func jsonValue(v any, s style, indent string) string {
	switch v := v.(type) {
	case Object:
		return v.asJSON(s, indent)
	case []Object:
		parts := make([]string, len(v))
		for i, o := range v {
			parts[i] = o.asJSON(s, indent)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []string:
		return quoteAll(v)
	case string:
		return quote(v)
	}
	return fmt.Sprint(v)
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
	keys := make([]string, len(path))
	for i, key := range path {
		keys[i] = tomlKey(key)
	}
	text := "[" + strings.Join(keys, ".") + "]" + newline
	for _, m := range o {
		text += tomlKey(m.Key) + " = " + tomlValue(m.Value) + newline
	}
	return text
}

func tomlValue(v any) string {
	switch v := v.(type) {
	case Object:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = tomlKey(m.Key) + " = " + tomlValue(m.Value)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []string:
		return quoteAll(v)
	case string:
		return quote(v)
	}
	return fmt.Sprint(v)
}

func yamlKey(key string) string {
	words := []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
	if plainKey.MatchString(key) && !slices.Contains(words, strings.ToLower(key)) {
		return key
	}
	return quote(key)
}

// asYAML encodes each member of an object on indented lines of its own.
func (o Object) asYAML(newline, indent string) string {
	var b strings.Builder
	for _, m := range o {
		b.WriteString(indent + yamlKey(m.Key) + ":")
		switch v := m.Value.(type) {
		case Object:
			if len(v) == 0 {
				b.WriteString(" {}" + newline)
				continue
			}
			b.WriteString(newline + v.asYAML(newline, indent+"  "))
		case []string:
			b.WriteString(" " + quoteAll(v) + newline)
		case string:
			b.WriteString(" " + quote(v) + newline)
		default:
			b.WriteString(" " + fmt.Sprint(v) + newline)
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
