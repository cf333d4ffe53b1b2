// Package access implements the part of an OAuth 2.1 resource server that an MCP endpoint needs: it
// verifies the JWTs of clients with the keys that their issuer publishes, and tells clients without
// a token where to get one.
//
// A token is valid if it is signed with an asymmetric algorithm by a key of the issuer's JWKS,
// names this issuer and this audience, is within its validity period, names its subject, and has
// all required scopes. In all other cases, including keys that cannot be fetched, verification
// returns a [Denial]. Tokens are never stored (except for the digests of valid ones), logged, or
// quoted in errors.
package access
