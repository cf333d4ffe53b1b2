package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/petrigate/petrigate/internal/text"
)

// An authority describes the authorization server of an MCP server, along with the scopes to
// request from it.
type authority struct {
	resource string
	scopes   []string
	meta     *oauthex.AuthServerMeta
}

// discover finds the authorization server of s, as specified in RFC 9728. It then reads that
// server's metadata, as specified in RFC 8414 or OpenID Connect Discovery.
func discover(ctx context.Context, client *http.Client, s Server, c challenge) (*authority, error) {
	if !isSecure(s.URL) {
		return nil, errInsecure
	}
	if s.ClientSecret != "" && s.Issuer == "" { // require a configured issuer; otherwise, the MCP server could choose who receives the client secret
		return nil, errors.New("a client secret belongs to one authorization server: set oauth.issuer")
	}
	resource, err := resourceMetadata(ctx, client, s, c)
	if err != nil {
		return nil, errors.New(s.redact(err.Error()))
	}
	issuer, err := chooseIssuer(s, resource)
	if err != nil {
		return nil, err
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	if err == nil && meta == nil {
		err = errors.New("it has no metadata")
	}
	if err == nil {
		err = checkMetadata(meta, issuer, s)
	}
	if err != nil {
		return nil, fmt.Errorf("asking the authorization server %s: %s", text.Excerpt(issuer, maxQuoted), text.Excerpt(s.redact(err.Error()), maxQuoted))
	}
	a := &authority{resource: resource.Resource, meta: meta, scopes: c.scopes}
	if a.scopes == nil {
		a.scopes = goodScopes(resource.ScopesSupported)
	}
	if s.Scopes != nil {
		a.scopes = s.Scopes
	}
	return a, nil
}

// resourceMetadata reads the protected resource metadata of s. If s publishes no metadata,
// resourceMetadata assumes that s is its own authorization server, as in revision 2025-03-26 of
// MCP.
func resourceMetadata(ctx context.Context, client *http.Client, s Server, c challenge) (*oauthex.ProtectedResourceMetadata, error) {
	u, _ := url.Parse(s.URL) // cannot fail: isSecure has parsed the address
	var unfit error
	for _, at := range metadataLocations(s, u, c) {
		seen := &lastStatus{next: client.Transport}
		watched := *client
		watched.Transport = seen
		found, err := oauthex.GetProtectedResourceMetadata(ctx, at.url, at.resource, &watched)
		switch {
		case err == nil && len(found.AuthorizationServers) == 0:
			return nil, errors.New("its metadata names no authorization server")
		case err == nil:
			return found, nil
		case unfit == nil && seen.code/100 != 4:
			unfit = fmt.Errorf("reading the server's metadata: %s", text.Excerpt(err.Error(), maxQuoted))
		}
	}
	if unfit != nil {
		return nil, unfit
	}
	return &oauthex.ProtectedResourceMetadata{Resource: s.resource(), AuthorizationServers: []string{originOf(u)}}, nil
}

// A metadataLocation holds a URL where a server may publish its metadata, along with the resource
// identifier that the metadata must contain.
type metadataLocation struct{ url, resource string }

// metadataLocations returns the possible locations of the server's metadata, in the order required
// by the specification.
func metadataLocations(s Server, u *url.URL, c challenge) []metadataLocation {
	known := originOf(u) + "/.well-known/oauth-protected-resource"
	var places []metadataLocation
	if c.metadata != "" {
		places = append(places, metadataLocation{c.metadata, s.resource()})
	}
	path := strings.TrimPrefix(u.EscapedPath(), "/")
	if path == "" {
		return append(places, metadataLocation{known, s.resource()})
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return append(places, metadataLocation{known + "/" + path, s.resource()}, metadataLocation{known, originOf(u)})
}

func originOf(u *url.URL) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() }

// lastStatus is an [http.RoundTripper] that records the status code of the last response.
type lastStatus struct {
	next http.RoundTripper
	code int
}

// RoundTrip sends the request and records the status code of the response.
func (l *lastStatus) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err == nil {
		l.code = response.StatusCode
	}
	return response, err
}

// chooseIssuer returns the configured issuer, or an error if the server's metadata does not list
// this issuer. If no issuer is configured, it returns the first issuer in the list.
func chooseIssuer(s Server, r *oauthex.ProtectedResourceMetadata) (string, error) {
	if s.Issuer == "" {
		return r.AuthorizationServers[0], nil
	}
	if !slices.Contains(r.AuthorizationServers, s.Issuer) {
		return "", fmt.Errorf("the server does not name the configured issuer %s as its authorization server, but %s",
			s.Issuer, text.Excerpt(strings.Join(r.AuthorizationServers, ", "), maxQuoted))
	}
	return s.Issuer, nil
}

// checkMetadata checks that an authorization server's metadata meets requirements that the library
// does not check.
func checkMetadata(m *oauthex.AuthServerMeta, issuer string, s Server) error {
	code := s.Grant != ClientCredentials
	switch {
	case m.Issuer != issuer:
		return fmt.Errorf("its metadata belongs to the issuer %q", m.Issuer)
	case !isSecure(m.TokenEndpoint):
		return errors.New("its metadata names no token endpoint over https")
	case code && !isSecure(m.AuthorizationEndpoint):
		return errors.New("its metadata names no authorization endpoint over https")
	case code && !slices.Contains(m.CodeChallengeMethodsSupported, "S256"):
		return errors.New("it does not support PKCE with S256")
	}
	return nil
}

// A challenge holds the parameters of the WWW-Authenticate header in the response to a refused
// request.
type challenge struct {
	metadata string   // URL of the resource metadata; may be empty
	scopes   []string // required scopes
	code     string   // error code, such as insufficient_scope
}

// readChallenge parses the WWW-Authenticate headers. It skips malformed headers.
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
			c.metadata = cmp.Or(c.metadata, f.Params["resource_metadata"])
			c.code = cmp.Or(c.code, f.Params["error"])
			if c.scopes == nil {
				c.scopes = scopesIn(f.Params["scope"])
			}
		}
	}
	return c
}

// maxScopes is the maximum number of scopes that petrigate accepts in one list.
const maxScopes = 100

// scopesIn returns the valid scopes (RFC 6749, section 3.3) in a space-separated list. It leaves
// out scopes of more than 200 bytes, and all scopes after the first maxScopes.
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
