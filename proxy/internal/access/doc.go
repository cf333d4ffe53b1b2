// Package access implements the parts of an OAuth 2.1 resource server that an MCP endpoint needs:
// it verifies clients' JWTs with the keys published by their issuer, and tells clients without a
// token where to get one.
//
// A token is valid if it is signed with an asymmetric algorithm by a key in the issuer's JWKS,
// names this issuer and this audience, is within its validity period, names its subject, and has
// all required scopes. In all other cases, for example if the keys cannot be fetched, verification
// returns a [Denial]. Tokens are never stored, logged, or quoted in errors; only the digests of
// valid tokens are stored.
package access
