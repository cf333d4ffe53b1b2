package rules

import (
	"fmt"
	"regexp"
	"strings"
)

// identifier is a key of the arguments that an expression reads as args.KEY.
var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// expression returns a map with an expression that can exempt in place of m, or the form
// of one where the pattern of m cannot be written as an expression.
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
