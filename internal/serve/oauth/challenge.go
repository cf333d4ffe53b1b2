package oauth

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// A challenge is what a server said when it turned a request away.
type challenge struct {
	metadata string   // where it describes itself; may be empty
	scopes   []string // that it wants
	code     string   // such as insufficient_scope
}

// readChallenge takes what is of use from WWW-Authenticate. A header that
// cannot be read does not hide the others.
func readChallenge(header http.Header) challenge {
	var c challenge
	for _, line := range header.Values("WWW-Authenticate") {
		found, err := oauthex.ParseWWWAuthenticate([]string{line})
		if err != nil {
			continue
		}
		for _, f := range found {
			if f.Scheme != "bearer" {
				continue
			}
			c.metadata = first(c.metadata, f.Params["resource_metadata"])
			c.code = first(c.code, f.Params["error"])
			if c.scopes == nil {
				c.scopes = scopesIn(f.Params["scope"])
			}
		}
	}
	return c
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// maxScopes bounds what a server can make us ask for.
const maxScopes = 100

// scopesIn are the words of text that are scopes (RFC 6749, section 3.3).
func scopesIn(text string) []string { return goodScopes(strings.Fields(text)) }

func goodScopes(words []string) []string {
	var good []string
	for _, word := range words {
		bad := strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
		if word != "" && !bad && len(word) <= 200 && len(good) < maxScopes {
			good = append(good, word)
		}
	}
	return good
}
