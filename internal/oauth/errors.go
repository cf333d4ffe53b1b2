package oauth

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// A LoginError says that a server cannot be used until a person has logged in.
type LoginError struct {
	Server  string
	Why     string
	Command string // what that person runs
}

func (e *LoginError) Error() string {
	return fmt.Sprintf("%s wants a login (%s): the user has to run %s", e.Server, e.Why, e.Command)
}

// errClear says why a server gets no token.
var errClear = errors.New("its address does not begin with https://, so that a token would cross the network in the clear")

// saidBy is the error of an authorization server without what it quotes, which
// may be a token.
func saidBy(err error) error {
	var token *oauth2.RetrieveError
	var registration *oauthex.ClientRegistrationError
	switch {
	case errors.As(err, &token) && token.ErrorCode != "":
		return fmt.Errorf("the authorization server says %s", plain(token.ErrorCode))
	case errors.As(err, &token) && token.Response != nil:
		return fmt.Errorf("the authorization server answered with HTTP status %d", token.Response.StatusCode)
	case errors.As(err, &registration):
		return fmt.Errorf("the authorization server says %s: %s", plain(registration.ErrorCode), plain(registration.ErrorDescription))
	}
	return err
}

// refusedForGood reports whether an authorization server has refused a grant
// itself, rather than one attempt to use it.
func refusedForGood(err error) bool {
	var token *oauth2.RetrieveError
	if !errors.As(err, &token) {
		return false
	}
	switch token.ErrorCode {
	case "invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "access_denied":
		return true
	}
	return false
}

// plain is the beginning of a text of a server, on one line and printable.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
	if runes := []rune(text); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return text
}
