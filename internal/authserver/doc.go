// Package authserver provides a small OAuth 2.1 authorization server, with an MCP resource that
// trusts it, for tests of the OAuth client.
//
// It supports the authorization code grant with PKCE, single-use refresh tokens, client
// credentials, dynamic client registration and revocation, and publishes the corresponding
// metadata. If Documents is set in the [Options], it accepts any https URL as a client ID, without
// reading the metadata document at this URL.
//
// The server consents to all valid authorization requests without asking a person. To detect
// mistakes of the client, it strictly checks the PKCE parameters, the resource and the redirect
// URIs of registered clients.
package authserver
