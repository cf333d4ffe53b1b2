package httpguard

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A tokenList contains the bearer tokens configured by the operator, with their principals.
type tokenList []tokenEntry

type tokenEntry struct {
	principal string
	sum       [sha256.Size]byte
}

// newTokenList returns a list with the unnamed token and the named ones. It returns an error if two
// tokens are equal, because they would stand for two principals at the same time.
func newTokenList(unnamed string, named map[string]string) (tokenList, error) {
	var list tokenList
	if unnamed != "" {
		list = append(list, tokenEntry{"token", sha256.Sum256([]byte(unnamed))})
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		token := named[name]
		if name == "" || token == "" {
			return nil, errors.New("the HTTP listener has an empty token or token name")
		}
		entry := tokenEntry{"token:" + name, sha256.Sum256([]byte(token))}
		for _, other := range list {
			if other.sum == entry.sum {
				return nil, fmt.Errorf("%s and %s have the same token", other.principal, entry.principal)
			}
		}
		list = append(list, entry)
	}
	return list, nil
}

// principal returns the principal that a token belongs to. It takes the same time for all tokens.
func (l tokenList) principal(token string) (string, bool) {
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range l {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], l[i].sum[:]), i, found)
	}
	if found < 0 {
		return "", false
	}
	return l[found].principal, true
}

// bearer returns the bearer token from the Authorization header. It returns "" unless there is
// exactly one such header.
func bearer(values []string) string {
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}
