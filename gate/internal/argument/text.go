package argument

import (
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Text returns the map's field in the call if it is a single string.
func Text(m *toolnet.Map, c *toolnet.Call) (string, bool) {
	if m.Field == "" {
		return "", false
	}
	value, ok := single(&toolnet.Field{Path: m.Field}, c)
	if !ok || rawjson.Kind(value) != '"' {
		return "", false
	}
	return rawjson.String(value)
}
