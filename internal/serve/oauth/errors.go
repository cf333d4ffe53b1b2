package oauth

import (
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/petrigate/petrigate/internal/text"
)

// A LoginError means that a server cannot be used until a person has logged in.
type LoginError struct {
	Server  string
	Why     string
	Command string // command that logs in to the server
}

func (e *LoginError) Error() string {
	return fmt.Sprintf("%s requires login (%s): the user must run %s", e.Server, e.Why, e.Command)
}

// errInsecure means that no token can be sent to the server, because its connection is not
// encrypted.
var errInsecure = errors.New("its address does not begin with https://, so a token would cross the network unencrypted")

// withoutQuotes replaces an error from an authorization server with an error that does not quote
// the response, because the response may contain a token.
func withoutQuotes(err error) error {
	var token *oauth2.RetrieveError
	var registration *oauthex.ClientRegistrationError
	switch {
	case errors.As(err, &token) && token.ErrorCode != "":
		return fmt.Errorf("the authorization server says %s", text.Excerpt(token.ErrorCode, maxQuoted))
	case errors.As(err, &token) && token.Response != nil:
		return fmt.Errorf("the authorization server responded with HTTP status %d", token.Response.StatusCode)
	case errors.As(err, &registration):
		return fmt.Errorf("the authorization server says %s: %s", text.Excerpt(registration.ErrorCode, maxQuoted), text.Excerpt(registration.ErrorDescription, maxQuoted))
	}
	return err
}

// refusedForGood reports whether err shows that the authorization server will never accept the
// grant. After any other error, another attempt may succeed.
func refusedForGood(err error) bool {
	var token *oauth2.RetrieveError
	codes := []string{"invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "access_denied"}
	return errors.As(err, &token) && slices.Contains(codes, token.ErrorCode)
}

// maxQuoted is the maximum number of bytes to quote from a server's response.
const maxQuoted = 200
