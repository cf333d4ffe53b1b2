package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// An identity is what petrigate is to an authorization server.
type identity struct {
	id, secret string
	style      oauth2.AuthStyle
}

// identify is the client that the configuration names, or a new one.
func identify(ctx context.Context, client *http.Client, s Server, meta *oauthex.AuthServerMeta, redirect string) (identity, error) {
	document := s.hasDocument()
	switch {
	case s.ClientID != "" && (!document || meta.ClientIDMetadataDocumentSupported):
		return identity{s.ClientID, s.ClientSecret, styleOf(s.ClientSecret, method(meta))}, nil
	case meta.RegistrationEndpoint != "":
		return register(ctx, client, meta, redirect)
	case document:
		return identity{}, errors.New("the authorization server takes no client id metadata documents and registers no clients: set oauth.clientId to a client that it knows")
	}
	return identity{}, errors.New("the authorization server registers no clients by itself: register petrigate there, and set oauth.clientId")
}

// register makes petrigate known (RFC 7591).
func register(ctx context.Context, client *http.Client, meta *oauthex.AuthServerMeta, redirect string) (identity, error) {
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
			return identity{}, errors.New("registering at the authorization server: it did not answer as RFC 7591 wants") // the error may quote a secret
		}
		return identity{}, fmt.Errorf("registering at the authorization server: %w", saidBy(err))
	}
	return identity{got.ClientID, got.ClientSecret, styleOf(got.ClientSecret, first(got.TokenEndpointAuthMethod, wanted))}, nil
}

// method is how a client with a secret shows it, of the ways that an
// authorization server knows.
func method(meta *oauthex.AuthServerMeta) string {
	methods := meta.TokenEndpointAuthMethodsSupported
	if !slices.Contains(methods, "client_secret_basic") && slices.Contains(methods, "client_secret_post") {
		return "client_secret_post"
	}
	return "client_secret_basic" // as is meant where nothing is said
}

func styleOf(secret, method string) oauth2.AuthStyle {
	if secret != "" && method == "client_secret_basic" {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}
