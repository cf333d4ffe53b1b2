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

// A tokenList is the bearer tokens of an operator, each with its principal.
type tokenList []tokenEntry

type tokenEntry struct {
	principal string
	sum       [sha256.Size]byte
}

// newTokenList takes the one token without a name, and those with one. Two
// names for one token would be two principals in one.
func newTokenList(unnamed string, named map[string]string) (tokenList, error) {
	var list tokenList
	if unnamed != "" {
		list = append(list, tokenEntry{"token", sha256.Sum256([]byte(unnamed))})
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		token := named[name]
		if name == "" || token == "" {
			return nil, errors.New("a token of the HTTP listener, or its name, is empty")
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

// principal is whose token this is. It takes the same time for any token.
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

// bearer is the token of the one Authorization header, "" if there is none.
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
