package rules

import (
	"fmt"
	"regexp"
	"strings"
)

// identifier matches keys that an expression can read as args.KEY.
var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// expression returns a map with an expression that gives a certain name, in place of m. If the
// pattern of m cannot be converted, it returns the general form of such a map.
func (m *Map) expression() string {
	pattern := m.Pattern.Text
	if !identifier.MatchString(m.Field) || strings.Contains(pattern, "'") {
		return `map TOOL when "args.FIELD == 'VALUE'" as NAME`
	}
	test := "args." + m.Field
	switch {
	case m.Pattern.Kind == Word:
		test += " == r'" + pattern + "'"
	case m.Pattern.Fold:
		test += ".matches(r'(?i)" + pattern + "')"
	default:
		test += ".matches(r'" + pattern + "')"
	}
	return fmt.Sprintf("map %s when %s as %s", joinNames(m.statement().Tools), quote(test), m.As)
}
