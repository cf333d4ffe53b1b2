// Package authserver is a small OAuth 2.1 authorization server, with an MCP resource that trusts
// it, for tests of the OAuth client.
//
// It supports the authorization code grant with PKCE, refresh tokens that can be used once, client
// credentials, dynamic registration, client id metadata documents and revocation, and publishes the
// corresponding metadata. It consents at once: the person at the browser is not part of it. Its
// checks are strict, so that a request that it accepts is correct.
package authserver
