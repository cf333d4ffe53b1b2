package listing

import "strings"

// MatchesTemplate reports whether uri could result from expanding the RFC 6570 template. It checks
// only whether uri contains the literal parts of the template in order. Each expression may stand
// for any text between them.
func MatchesTemplate(template, uri string) bool {
	first := true
	for template != "" {
		literal, rest, more := strings.Cut(template, "{")
		at := strings.Index(uri, literal)
		switch {
		case first && !strings.HasPrefix(uri, literal):
			return false
		case !first && !more:
			return strings.HasSuffix(uri, literal)
		case at < 0:
			return false
		case !more:
			return uri == literal
		}
		uri = uri[at+len(literal):]
		_, template, more = strings.Cut(rest, "}")
		if !more {
			return false
		}
		first = false
	}
	return !first || uri == ""
}
