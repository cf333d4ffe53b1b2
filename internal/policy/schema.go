package policy

import (
	"encoding/json"
	"maps"
	"slices"
)

// A Schema is the JSON Schema of a tool's arguments. It is used to find out which arguments are
// possible. In JSON Schema, properties that are not listed are allowed by default. Here, if the
// schema has a list of properties, even an empty one, others are possible only if it allows them
// explicitly.
type Schema map[string]any

// ParseSchema parses a schema. An invalid schema allows everything.
func ParseSchema(src []byte) Schema {
	var s Schema
	if json.Unmarshal(src, &s) != nil {
		return nil
	}
	return s
}

// openWords are the schema keywords that may allow properties in addition to those listed.
var openWords = []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "patternProperties", "dependentSchemas", "propertyNames"}

// members returns the properties that the schema lists. ok is false if the schema has no list of
// properties or may allow others.
func (s Schema) members() (members map[string]any, ok bool) {
	for _, word := range openWords {
		if _, there := s[word]; there {
			return nil, false
		}
	}
	if more := s["additionalProperties"]; more != nil && more != false {
		return nil, false
	}
	members, ok = s["properties"].(map[string]any)
	return members, ok
}

// lacks looks for the first key on the path that the schema does not allow. It returns this key and
// the keys that the schema lists instead. If the schema allows the whole path, the returned key is
// empty. An empty key in the path stands for the elements of an array.
func (s Schema) lacks(way []string) (key string, known []string) {
	for _, step := range way {
		var next any
		if step == "" {
			next = s["items"]
		} else {
			members, ok := s.members()
			if !ok {
				return "", nil
			}
			if next, ok = members[step]; !ok {
				return step, slices.Sorted(maps.Keys(members))
			}
		}
		inner, ok := next.(map[string]any)
		if !ok {
			return "", nil
		}
		s = inner
	}
	return "", nil
}

// hasAction reports whether the schema allows the given value for the property "action".
func (s Schema) hasAction(action string) bool {
	if key, _ := s.lacks([]string{"action"}); key != "" {
		return false
	}
	known := s.actions()
	return known == nil || slices.Contains(known, action)
}

// actions returns the values that the schema lists for the property "action", or nil if it does not
// list any.
func (s Schema) actions() []string {
	members, _ := s.members()
	field, _ := members["action"].(map[string]any)
	list, _ := field["enum"].([]any)
	var actions []string
	for _, v := range list {
		if text, ok := v.(string); ok {
			actions = append(actions, text)
		}
	}
	return actions
}
