// Package oauth gets tokens for MCP servers, as their OAuth 2.1 client.
//
// A person logs in with [Login]: the server says which authorization server it
// trusts, petrigate makes itself known there, and the browser comes back to a
// listener of this machine with a code, which is exchanged for tokens. They are
// kept in a [Store], in the keyring of the system or a file that only its user
// can read, bound to the name and the address of their server.
//
// A [Source] gives the tokens of one server to a proxy, and refreshes them. It
// never asks a person: where a login is needed it says so with a [LoginError].
// Any number of processes may use one store. A refresh is made under a lock,
// since an authorization server may take a refresh token once only.
//
// What a server says about authorization is not trusted: metadata has to come
// over https or from this machine, has to be of the issuer and the resource that
// it was asked for, and a server of the outside leads to no address of the
// inside.
package oauth
