package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Session configures how calls are assigned to sessions.
type Session struct {
	By     string // what determines a call's session: "connection", "principal", "name", "header" or "meta"
	Name   string // for By "name", the name of the session
	Header string // for By "header", the name of a header in the HTTP request
	Meta   string // for By "meta", a key in the _meta of the request
}

func readSession(v Value, c *Config, l *layers) {
	l.section(v, Keys{
		"by":     l.fileOnly("session.by", into(&c.Session.By, oneOf(sessionBys))),
		"header": l.fileOnly("session.header", into(&c.Session.Header, checked(checkNotEmpty, checkHeaderName))),
		"meta":   l.fileOnly("session.meta", into(&c.Session.Meta, checked(checkNotEmpty, checkMetaKey))),
	})
}

// maxSessionName is the maximum length of a session name, in bytes.
const maxSessionName = 128

// checkSessionName accepts a printable name that is not too long.
func checkSessionName(what, shown, text string) (msg, hint string) {
	printable := utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	if text == "" || len(text) > maxSessionName || !printable || strings.TrimSpace(text) != text {
		return fmt.Sprintf("%s: %s is not a name of a session", what, shown), fmt.Sprintf("at most %d printable characters, no space around them", maxSessionName)
	}
	return "", ""
}

var headerName = regexp.MustCompile(`^(?i:x-)[A-Za-z0-9-]{1,60}$`)

// checkHeaderName accepts a header whose name begins with "X-" and has no conventional meaning.
func checkHeaderName(what, shown, text string) (msg, hint string) {
	if !headerName.MatchString(text) || slices.ContainsFunc([]string{"x-forwarded-", "x-real-ip"}, func(p string) bool { return strings.HasPrefix(strings.ToLower(text), p) }) {
		return fmt.Sprintf("%s: %s is not a header that can name a session", what, shown), `use one that begins with X-, for example "X-Agent-Session"`
	}
	return "", ""
}

var metaKey = regexp.MustCompile(`^([A-Za-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)

// checkMetaKey accepts a key in _meta that the protocol does not reserve.
func checkMetaKey(what, shown, text string) (msg, hint string) {
	prefix, _, _ := strings.Cut(text, "/")
	reserved := strings.Contains(text, "/") && slices.ContainsFunc(strings.Split(prefix, "."), func(label string) bool { return label == "mcp" || label == "modelcontextprotocol" })
	if !metaKey.MatchString(text) || len(text) > maxSessionName || reserved || text == "progressToken" {
		return fmt.Sprintf("%s: %s is not a key of _meta that can name a session", what, shown), `for example "example.com/session"`
	}
	return "", ""
}
