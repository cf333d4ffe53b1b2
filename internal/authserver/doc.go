// Package authserver provides a small OAuth 2.1 authorization server, with an MCP resource that
// trusts it, for tests of the OAuth client.
//
// It supports the authorization code grant with PKCE, single-use refresh tokens, client
// credentials, dynamic client registration and revocation, and publishes the corresponding
// metadata. If Documents is set in the [Options], it also accepts any https URL as a client ID,
// but does not read the client ID metadata document at this URL. It consents to valid
// authorization requests without asking a person. It strictly checks the PKCE parameters, the
// resource and the redirect URIs of clients that have registered, so that tests detect the client's
// mistakes.
package authserver
