// Package authserver provides a small OAuth 2.1 authorization server, with an MCP resource that
// trusts it, for tests of the OAuth client.
//
// It supports the authorization code grant with PKCE, single-use refresh tokens, client
// credentials, dynamic client registration, client ID metadata documents and revocation, and
// publishes the corresponding metadata. It consents to valid authorization requests without asking
// a person. It validates all requests strictly, so that tests detect the client's mistakes.
package authserver
