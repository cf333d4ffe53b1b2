// Package oauth is the OAuth 2.1 client for MCP servers.
//
// A person logs in with [Login]: the MCP server names its authorization server, petrigate registers
// there, and the browser is redirected to a listener on this machine with a code, which is
// exchanged for tokens. A [Store] keeps the tokens, in the keyring of the system or in a file that
// only its user can read, bound to the name and the address of their server.
//
// A [Source] supplies the tokens of one server to a proxy, and refreshes them. It never asks a
// person: if a login is needed, it returns a [LoginError]. Any number of processes can use one
// store. A refresh holds a file lock, since an authorization server may accept a refresh token only
// once.
//
// A Source is safe for concurrent use. Concurrent callers share one request for a token, which runs
// in its own goroutine and finishes even if all callers have gone. The current grant is an atomic
// pointer; a mutex guards what the Source knows about the store and its recent grants.
//
// What a server says about authorization is not trusted: metadata must come over https or from this
// machine, must belong to the requested issuer and resource, and a server on the public network
// cannot direct petrigate to an internal address.
package oauth
