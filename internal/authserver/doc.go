// Package authserver is a small OAuth 2.1 authorization server, with an MCP resource that trusts
// it, for tests of the OAuth client.
//
// It supports the authorization code grant with PKCE, refresh tokens that can be used only once,
// client credentials, dynamic client registration, client ID metadata documents and revocation, and
// publishes the corresponding metadata. It gives consent at once, without a person at the browser.
// Its checks are strict: if it accepts a request, the request is correct.
package authserver
