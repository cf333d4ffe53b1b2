// Package authserver is a small OAuth 2.1 authorization server, and the guard
// of a resource that trusts it, for the tests of the client.
//
// It knows authorization code with PKCE, refresh tokens that are good for one
// time, client credentials, dynamic registration, client id metadata documents
// and revocation, and says so in metadata. It consents to everything at once:
// the person at the browser is not part of it. What it checks it checks
// strictly, so that what it lets pass is right.
package authserver
