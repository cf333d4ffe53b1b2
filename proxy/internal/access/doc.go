// Package access is the part of an OAuth 2.1 resource server that an MCP
// endpoint needs: it verifies the JWTs that clients bring, with the keys that
// their issuer publishes, and tells clients without one where to get it.
//
// A token is taken when it is signed by a key of the issuer's JWKS with an
// asymmetric algorithm, names this issuer and this audience, is in its time,
// names somebody, and has all scopes that are wanted. Whatever is in doubt,
// keys that cannot be fetched among it, is a [Denial]. No token is kept
// (but for the digest of a good one), logged, or part of an error.
package access
