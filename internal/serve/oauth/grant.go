package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/petrigate/petrigate/internal/text"
)

// A Grant holds the tokens for a server and the data needed to refresh them. Formatting a Grant
// yields only the server's name, so that tokens do not get into logs.
type Grant struct {
	Server   string `json:"server"`
	Resource string `json:"resource"`
	Issuer   string `json:"issuer"`

	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitempty"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle"`
	TokenURL     string           `json:"tokenEndpoint"`
	RevokeURL    string           `json:"revocationEndpoint,omitempty"`

	Scopes []string `json:"scopes,omitempty"` // granted scopes, or the requested scopes if the token response lists none
	Wanted []string `json:"wanted,omitempty"` // additional scopes that the server has demanded since the login

	AccessToken  string    `json:"accessToken"`
	RefreshToken string    `json:"refreshToken,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"` // zero if unknown
	Obtained     time.Time `json:"obtained"`
}

// String returns a string that contains only the server's name.
func (g *Grant) String() string { return "grant for " + g.Server }

// GoString is like String.
func (g *Grant) GoString() string { return g.String() }

// header returns the value of the Authorization header, or "" if g is nil.
func (g *Grant) header() string {
	if g == nil {
		return ""
	}
	return "Bearer " + g.AccessToken
}

// refreshMargin is how long before its expiry a token is replaced. The margin ensures that the
// token is still valid when the server receives the request. For a token that is valid for less
// than four minutes, [Grant.fresh] uses a quarter of that time instead.
const refreshMargin = time.Minute

// fresh reports whether the token is valid and will not expire soon.
func (g *Grant) fresh(now time.Time) bool {
	if g.Expiry.IsZero() {
		return true
	}
	margin := min(refreshMargin, g.Expiry.Sub(g.Obtained)/4) // the margin is smaller for a token that is valid for only a few minutes
	return now.Before(g.Expiry.Add(-margin))
}

// alive reports whether the token is still valid.
func (g *Grant) alive(now time.Time) bool { return g.Expiry.IsZero() || now.Before(g.Expiry) }

// withToken returns a copy of g with the tokens and scopes in the token response t. If the response
// lists no scopes, the requested scopes count as granted. The copy's Wanted field is empty.
// withToken returns an error if the token is not a bearer token or cannot be sent in a header.
func (g *Grant) withToken(t *oauth2.Token, asked []string, now time.Time) (*Grant, error) {
	if !strings.EqualFold(t.Type(), "bearer") {
		return nil, fmt.Errorf("the authorization server issued a token of the unknown type %q", text.Excerpt(t.Type(), maxQuoted))
	}
	if strings.ContainsFunc(t.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the authorization server issued a token with characters that are invalid in a header")
	}
	next := *g
	next.AccessToken, next.RefreshToken, next.Expiry, next.Obtained = t.AccessToken, t.RefreshToken, t.Expiry, now
	if !t.Expiry.IsZero() {
		next.Expiry = now.Add(time.Until(t.Expiry)) // t.Expiry is based on the system clock, so convert it to the caller's clock
	}
	next.Scopes, next.Wanted = asked, nil
	if granted, ok := t.Extra("scope").(string); ok && granted != "" {
		next.Scopes = scopesIn(granted)
	}
	return &next, nil
}

// refreshed uses the refresh token of g to request new tokens, and returns a copy of g with the new
// tokens. Only a new login can grant the scopes in Wanted, so the copy keeps them.
func (g *Grant) refreshed(ctx context.Context, client *http.Client, now func() time.Time) (*Grant, error) {
	refresh := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.RefreshToken}}
	next, err := g.requestToken(ctx, client, clientcredentials.Config{EndpointParams: refresh}, g.Scopes, now)
	if err == nil {
		next.Wanted = g.Wanted
	}
	return next, err
}

// withClientCredentials requests a token for the client itself rather than for a person, and
// returns a copy of g with this token.
func (g *Grant) withClientCredentials(ctx context.Context, client *http.Client, scopes []string, now func() time.Time) (*Grant, error) {
	return g.requestToken(ctx, client, clientcredentials.Config{Scopes: scopes, EndpointParams: url.Values{}}, scopes, now)
}

// requestToken sends a request to the token endpoint. Unlike the token source of oauth2.Config, it
// includes the resource parameter.
func (g *Grant) requestToken(ctx context.Context, client *http.Client, c clientcredentials.Config, scopes []string, now func() time.Time) (*Grant, error) {
	c.ClientID, c.ClientSecret, c.TokenURL, c.AuthStyle = g.ClientID, g.ClientSecret, g.TokenURL, g.AuthStyle
	c.EndpointParams.Set("resource", g.Resource)
	t, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return nil, err
	}
	return g.withToken(t, scopes, now())
}

// revoke revokes the tokens at the authorization server (RFC 7009).
func (g *Grant) revoke(ctx context.Context, client *http.Client) error {
	form := url.Values{"token": {cmp.Or(g.RefreshToken, g.AccessToken)}, "client_id": {g.ClientID}}
	if g.ClientSecret != "" && g.AuthStyle == oauth2.AuthStyleInParams {
		form.Set("client_secret", g.ClientSecret)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if g.ClientSecret != "" && g.AuthStyle == oauth2.AuthStyleInHeader {
		request.SetBasicAuth(url.QueryEscape(g.ClientID), url.QueryEscape(g.ClientSecret))
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the authorization server responded with HTTP status %d", response.StatusCode)
	}
	return nil
}
