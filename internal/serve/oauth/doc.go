// Package oauth is the OAuth 2.1 client for MCP servers.
//
// A person logs in with [Login]. The MCP server names its authorization server. If no client ID is
// configured, petrigate registers as a client with the authorization server. The person gives
// consent in a browser. The authorization server redirects the browser to a listener on this
// machine, and the redirect contains a code that petrigate exchanges for tokens. A [Store] keeps
// the tokens either in the system's keyring or in a file that only the user can read. Tokens are
// bound to the name and the address of their server.
//
// A [Source] supplies a proxy with tokens for one server, and refreshes them. It never asks a
// person: if a login is needed, it returns a [LoginError]. Several processes can share a store.
// Since an authorization server may accept a refresh token only once, a Source holds a file lock
// during a refresh.
//
// A Source is safe for concurrent use. Concurrent callers share one token request, which runs in
// its own goroutine and finishes even if its callers stop waiting. The current grant is an atomic
// pointer. A mutex guards the other mutable fields.
//
// The package does not trust the metadata that servers publish. The metadata must come over https
// or from this machine, and must belong to the requested issuer and resource. A server on the
// public network cannot direct petrigate to an internal address, unless the environment specifies
// an HTTP proxy.
package oauth
