// Package authserver provides a small OAuth 2.1 authorization server, with an MCP resource that
// trusts it, for tests of the OAuth client.
//
// It supports the authorization code grant with PKCE, single-use refresh tokens, client
// credentials, dynamic client registration, client ID metadata documents and revocation, and
// publishes the corresponding metadata. It gives consent at once, without a person at the browser.
// Its checks are strict: a request that it accepts is correct.
package authserver
