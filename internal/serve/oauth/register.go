package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// identify returns a new grant for s that contains a client ID but no tokens. The client is the
// configured one or, if none is configured, a newly registered one.
func (a *authority) identify(ctx context.Context, client *http.Client, s Server, redirect string) (*Grant, error) {
	meta, document := a.meta, s.hasDocument()
	g := &Grant{Server: s.Name, Resource: a.resource, Issuer: meta.Issuer, TokenURL: meta.TokenEndpoint}
	if isSecure(meta.RevocationEndpoint) {
		g.RevokeURL = meta.RevocationEndpoint
	}
	switch {
	case s.ClientID != "" && (!document || meta.ClientIDMetadataDocumentSupported):
		g.ClientID, g.ClientSecret, g.AuthStyle = s.ClientID, s.ClientSecret, styleOf(s.ClientSecret, method(meta))
		return g, nil
	case meta.RegistrationEndpoint != "":
		return g, g.register(ctx, client, meta, redirect)
	case document:
		return nil, errors.New("the authorization server supports neither client id metadata documents nor client registration: set oauth.clientId to a registered client")
	}
	return nil, errors.New("the authorization server has no dynamic client registration: register petrigate there and set oauth.clientId")
}

// register registers petrigate as a client at the authorization server (RFC 7591).
func (g *Grant) register(ctx context.Context, client *http.Client, meta *oauthex.AuthServerMeta, redirect string) error {
	wanted := "none"
	if methods := meta.TokenEndpointAuthMethodsSupported; len(methods) > 0 && !slices.Contains(methods, "none") {
		wanted = method(meta)
	}
	got, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs:            []string{redirect},
		TokenEndpointAuthMethod: wanted,
		GrantTypes:              []string{"authorization_code", "refresh_token"},
		ResponseTypes:           []string{"code"},
		ClientName:              "petrigate",
		ApplicationType:         "native",
	}, client)
	if err != nil {
		var refused *oauthex.ClientRegistrationError
		if !errors.As(err, &refused) {
			return errors.New("registering with the authorization server: the response does not conform to RFC 7591") // the original error may quote a secret
		}
		return fmt.Errorf("registering with the authorization server: %w", withoutQuotes(err))
	}
	g.ClientID, g.ClientSecret = got.ClientID, got.ClientSecret
	g.AuthStyle = styleOf(got.ClientSecret, cmp.Or(got.TokenEndpointAuthMethod, wanted))
	return nil
}

// method returns the authentication method for a client with a secret. If the authorization server
// supports client_secret_post but not client_secret_basic, the method is client_secret_post.
// Otherwise, it is client_secret_basic.
func method(meta *oauthex.AuthServerMeta) string {
	methods := meta.TokenEndpointAuthMethodsSupported
	if !slices.Contains(methods, "client_secret_basic") && slices.Contains(methods, "client_secret_post") {
		return "client_secret_post"
	}
	return "client_secret_basic" // client_secret_basic is the default according to RFC 8414
}

func styleOf(secret, method string) oauth2.AuthStyle {
	if secret != "" && method == "client_secret_basic" {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}
