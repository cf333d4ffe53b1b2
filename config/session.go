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
	Name   string // name of the session, if By is "name"
	Header string // name of a header in the HTTP request, if By is "header"
	Meta   string // key in the _meta of the request, if By is "meta"
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

// checkSessionName accepts a name of 1 to maxSessionName bytes that consists of printable
// characters and neither begins nor ends with white space.
var checkSessionName = accept(func(text string) bool {
	printable := utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	return text != "" && len(text) <= maxSessionName && printable && strings.TrimSpace(text) == text
}, "%[1]s: %[2]s is not a valid session name", fmt.Sprintf("use at most %d printable characters, without spaces at either end", maxSessionName))

var headerName = regexp.MustCompile(`^(?i:x-)[A-Za-z0-9-]{1,60}$`)

// checkHeaderName accepts the name of a header that begins with "X-", unless the header has an
// established meaning, such as X-Forwarded-For.
var checkHeaderName = accept(func(text string) bool {
	lower := strings.ToLower(text)
	return headerName.MatchString(text) && !strings.HasPrefix(lower, "x-forwarded-") && !strings.HasPrefix(lower, "x-real-ip")
}, "%[1]s: %[2]s is not a header that can name a session", `use one that begins with X-, for example "X-Agent-Session"`)

var metaKey = regexp.MustCompile(`^([A-Za-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)

// checkMetaKey accepts a key in _meta that the protocol does not reserve.
var checkMetaKey = accept(func(text string) bool {
	prefix, _, found := strings.Cut(text, "/")
	labels := strings.Split(prefix, ".")
	reserved := found && (slices.Contains(labels, "mcp") || slices.Contains(labels, "modelcontextprotocol"))
	return metaKey.MatchString(text) && len(text) <= maxSessionName && !reserved && text != "progressToken"
}, "%[1]s: %[2]s is not a key of _meta that can name a session", `for example "example.com/session"`)
